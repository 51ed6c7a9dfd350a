"""The web app: data, classifiers, explanations and what-ifs in a browser, over `workflow`.

`app` joins the rooms: `claim` (one server to a folder), `guard` (who may ask), `library` (data sets
and classifiers by key, each made `once`), `uploads` (what may come in), `quota` (how much is kept),
`store` (jobs in SQLite), `runner` (jobs at work), `events` (how they go on), `schemas` (what
requests say), `payload` (what pages show), `takeaway` (what is saved), `server` (what it runs in).
Nothing here is imported before somebody serves.
"""
