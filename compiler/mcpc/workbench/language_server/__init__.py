"""The language server: what editors ask of a project while it is written, over standard input and output.

    messages ─server─▶ Workspace ─▶ OpenProject ─┬─ quick check of what a keystroke changed    (checking, reduction)
                                                 └─ complete check in a thread, after a pause  (checking)

A keystroke costs what it changed: the edited definition and what has its name are checked by the compiler's own
pipeline, in a copy of the project in which all other definitions are blank. The complete check follows when typing
stops.
"""
