"""The web app: data, classifiers, explanations and what-ifs in a browser, over `workflow`.

`app` joins the rooms: `guard` (who may ask), `library` (data sets and classifiers by key),
`uploads` (what may come in), `store` (jobs in SQLite), `runner` (jobs at work), `schemas` (what
requests say), `payload` (what pages show), `takeaway` (what is saved). Nothing here is imported
before somebody serves.
"""
