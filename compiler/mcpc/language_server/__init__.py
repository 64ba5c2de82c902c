"""The language server: what editors ask of a project while it is written, over standard input and output.

    messages ─server─▶ Workspace ─▶ OpenProject ─┬─ quick check of what a keystroke changed   (edited_files, reduction)
                                                 └─ complete check, later, in a thread        (checking)

A keystroke costs what it changed: the definition that is edited and what has its name are checked by the compiler's
pipeline in a copy of the project in which all other definitions are blank. The complete check follows when typing stops.
"""
