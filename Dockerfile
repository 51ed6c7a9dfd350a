# The web app in a container:
#   docker build -t denseflip .
#   docker run --rm -p 127.0.0.1:8765:8765 -e DENSEFLIP_TOKEN=choose-one -v "$PWD/studies:/data" denseflip
FROM python:3.12-slim

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OMP_NUM_THREADS=1

WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src ./src
COPY docs ./docs
RUN pip install --no-cache-dir -c constraints.txt ".[brain,web]" \
    && useradd --uid 1000 --create-home denseflip \
    && mkdir /data \
    && chown 1000 /data

USER 1000
WORKDIR /data
EXPOSE 8765
# Outside its own machine the app requires a token: DENSEFLIP_TOKEN.
CMD ["denseflip", "serve", "mice", "--host", "0.0.0.0", "--port", "8765", "--no-browser"]
