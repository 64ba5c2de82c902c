"""JSON Schemas of the files that mcpc reads, for editors: draft-07, which every editor's JSON service knows.

    fields of `lower.protocol_schema` ─json_schema─▶ schemas of definitions      `FILES`: a row for each kind of file

Fields, types and texts are those of the compiler's own checks. A schema refuses what the compiler reports of the form
of one file; what needs other files, such as a missing handler, only the compiler reports.
"""

from mcpc.workbench.file_schemas.files import FILES, FileKind, kind_of, schema_of, schema_text

__all__ = ["FILES", "FileKind", "kind_of", "schema_of", "schema_text"]
