"""The web app: data, classifiers, explanations and what-ifs in a browser, over `workflow`.

`app` joins the modules: `folder_lock` (one server per data folder), `guard` (access control),
`library` (data sets and classifiers by key), `single_flight` (compute once per key), `uploads` and
their limits, `job_store` (jobs in SQLite), `job_runner` and `job_work` (running jobs, progress),
`many_jobs` (many graphs as one job), `schemas` (request bodies), `payload` (data for the page),
`downloads`, and `server_config`. Nothing here is imported before `denseflip serve` runs.
"""
