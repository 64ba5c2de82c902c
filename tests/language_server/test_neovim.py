"""Neovim with the settings of docs/editors.md: problems arrive, fixes and completions are applied, definitions found."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from support.files import write_files
from support.needs import needs

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"Version 0\.7 to 0\.10:\n\n```lua\n(.*?)```", re.DOTALL)
TOOLS = """{
  "tools": [
    {
      "name": "greet",
      "descriptionn": "Greets.",
      "inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
    }
  ]
}
"""
DRIVE = """
local said = {}
local function wait(what, is_there)
  if not vim.wait(90000, is_there, 50) then
    said.failed = what
    vim.fn.writefile({ vim.json.encode(said) }, "said.json")
    vim.cmd("qa!")
  end
end
vim.ui.select = function(items, _, choose) choose(items[1], 1) end
wait("diagnostics", function() return #vim.diagnostic.get(0) == 2 end)
said.codes = {}
for _, each in ipairs(vim.diagnostic.get(0)) do
  table.insert(said.codes, each.user_data and each.user_data.lsp.code or each.code)
end
vim.api.nvim_win_set_cursor(0, { 5, 8 })
vim.lsp.buf.code_action()
wait("fix", function() return vim.api.nvim_buf_get_lines(0, 4, 5, true)[1]:match('"description"') ~= nil end)
wait("no diagnostics", function() return #vim.diagnostic.get(0) == 0 end)
vim.api.nvim_win_set_cursor(0, { 4, 16 })
vim.lsp.buf.definition()
wait("definition", function() return vim.api.nvim_buf_get_name(0):match("tools.py$") ~= nil end)
said.line = vim.api.nvim_win_get_cursor(0)[1]
vim.cmd("edit! tests/greets.yaml")
vim.api.nvim_win_set_cursor(0, { 2, 9 })
local place = vim.lsp.util.make_position_params()
local answers = vim.lsp.buf_request_sync(0, "textDocument/completion", place, 90000)
local _, answer = next(answers or {})
local item = answer.result.items and answer.result.items[1] or answer.result[1]
vim.lsp.util.apply_text_edits({ item.textEdit }, 0, "utf-16")
said.completed = vim.api.nvim_buf_get_lines(0, 1, 2, true)[1]
vim.fn.writefile({ vim.json.encode(said) }, "said.json")
vim.cmd("qa!")
"""


def test_the_settings_of_the_documentation_work_in_neovim(tmp_path: Path) -> None:
    needs("nvim")
    found = BLOCK.search((ROOT / "docs" / "editors.md").read_text("utf-8"))
    write_files(
        tmp_path,
        {
            "project/server.json": {"serverInfo": {"name": "demo", "version": "1.0.0"}},
            "project/tools.json": TOOLS,
            "project/tools.py": 'import json\n\n\ndef greet(who):\n    return ""\n',
            "project/tests/greets.yaml": "tests:\n- tool: gr\n  arguments: {who: Ada}\n",
            "bin/mcpc": f'#!/bin/sh\nexec "{sys.executable}" -m mcpc "$@"\n',
            "init.lua": found[1],
            "drive.lua": DRIVE,
        },
    )
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        **{f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
    }
    done = subprocess.run(
        ["nvim", "--headless", "-n", "-u", tmp_path / "init.lua", "tools.json", "-S", tmp_path / "drive.lua"],
        cwd=tmp_path / "project",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    report = tmp_path / "project" / "said.json"
    assert report.exists(), done.stderr
    said = json.loads(report.read_text("utf-8"))
    assert {**said, "codes": sorted(said["codes"])} == {
        "codes": ["MCP103", "MCP108"],
        "line": 4,
        "completed": "- tool: greet",
    }
