--- A Neovim of its own, with the plugin and the stub in it: what is typed into it, what is seen.

local M = {}

local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
local root = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(here, ':p')))
local PATIENCE_MS = 5000

---@type integer?
local channel

--- Run Lua in the editor.
---@param code string
---@param ... any
---@return any
function M.lua(code, ...)
  return vim.rpcrequest(assert(channel), 'nvim_exec_lua', code, { ... })
end

--- Wait until something is as expected.
---@param expected any
---@param look fun(): any
function M.until_is(expected, look)
  local seen
  local right = vim.wait(PATIENCE_MS, function()
    seen = look()
    return vim.deep_equal(expected, seen)
  end, 5)
  if not right then
    error(('expected %s\n     got %s'):format(vim.inspect(expected), vim.inspect(seen)), 2)
  end
end

--- Press keys, and wait until the editor has read them.
---@param keys string
function M.type(keys)
  local before = M.lua('return vim.g.typed')
  vim.rpcrequest(assert(channel), 'nvim_input', keys .. '<F12>')
  M.until_is(before + 1, function()
    return M.lua('return vim.g.typed')
  end)
end

---@return string[]
function M.lines()
  return M.lua('return vim.api.nvim_buf_get_lines(0, 0, -1, false)')
end

--- The ghost: its first line, and the lines below; nil where there's none.
---@return { at: integer[], first: string, below: string[], place: string }?
function M.ghost()
  return M.lua([[
    local space = vim.api.nvim_get_namespaces().specls
    local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
    assert(#marks <= 1, 'more than one ghost')
    if #marks == 0 then return nil end
    local function join(chunks)
      return table.concat(vim.tbl_map(function(chunk) return chunk[1] end, chunks))
    end
    local mark = marks[1]
    return {
      at = { mark[2], mark[3] },
      first = join(mark[4].virt_text),
      below = vim.tbl_map(join, mark[4].virt_lines or {}),
      place = mark[4].virt_text_pos,
    }
  ]]) or nil
end

--- Wait for a ghost of these lines, or for none.
---@param lines string[]?
function M.until_ghost(lines)
  M.until_is(lines, function()
    local ghost = M.ghost()
    if ghost and ghost ~= vim.NIL then
      table.insert(ghost.below, 1, ghost.first)
      return ghost.below
    end
  end)
end

--- Wait until one request is open, and it's for where the cursor is.
---@return table params
function M.until_asked()
  M.until_is(true, function()
    return M.lua([[
      local row, col = unpack(vim.api.nvim_win_get_cursor(0))
      local line = vim.api.nvim_get_current_line()
      local place = {
        line = row - 1,
        character = require('specls.text').character(line, col, stub.encoding),
      }
      return #stub.waiting == 1 and vim.deep_equal(place, stub.waiting[1].params.position)
    ]])
  end)
  return M.lua('return stub.waiting[1].params')
end

--- Answer the oldest request with texts that go on at its cursor, as the server does: each item's
--- range begins at the line's beginning.
---@param ... string
function M.suggest(...)
  M.lua(
    [[
    local texts = { ... }
    local params = stub.waiting[1].params
    local row, character = params.position.line, params.position.character
    local line = vim.api.nvim_buf_get_lines(0, row, row + 1, false)[1]
    local head = line:sub(1, require('specls.text').byte(line, character, stub.encoding))
    local items = {}
    for index, text in ipairs(texts) do
      _G.made = (_G.made or 0) + 1
      items[index] = {
        insertText = head .. text,
        range = {
          start = { line = row, character = 0 },
          ['end'] = { line = row, character = character },
        },
        command = { title = 'Accepted', command = 'specls.didAcceptCompletion',
          arguments = { tostring(made) } },
      }
    end
    stub:answer(items)
  ]],
    ...
  )
end

--- The parameters of all messages of a method.
---@param method string
---@return table[]
function M.told(method)
  return M.lua('return stub:told(...)', method)
end

---@class specls.Opening
---@field lines? string[]
---@field options? table    of setup
---@field before? string    Lua that runs before setup
---@field encoding? string
---@field filetype? string

--- Start an editor with a file, in normal mode at its beginning.
---@param opening? specls.Opening
function M.open(opening)
  opening = opening or {}
  M.reset()
  local command = { vim.v.progpath, '--clean', '--embed', '--headless', '-n' }
  channel = vim.fn.jobstart(command, { rpc = true })
  local file = vim.fn.tempname() .. '.txt'
  vim.fn.writefile(opening.lines or { '' }, file, 'b')
  M.lua(
    [[
    local root, here, encoding = ...
    vim.opt.runtimepath:prepend(root)
    package.path = here .. '/?.lua;' .. package.path
    vim.cmd('runtime plugin/specls.lua')
    _G.stub = require('stub').new()
    stub.encoding = encoding
    _G.notes = {}
    vim.g.typed = 0
    vim.keymap.set({ 'n', 'i', 'v' }, '<F12>', '<Cmd>let g:typed += 1<CR>')
    vim.notify = function(message) table.insert(notes, message) end
  ]],
    root,
    here,
    opening.encoding or 'utf-16'
  )
  M.lua(opening.before or '')
  M.lua(
    [[
    local file, options, filetype = ...
    require('specls').setup(vim.tbl_extend('keep', options, { cmd = stub:cmd(), debounce_ms = 0 }))
    vim.cmd.edit(file)
    vim.bo.filetype = filetype
  ]],
    file,
    opening.options or vim.empty_dict(),
    opening.filetype or 'code'
  )
  M.until_is(true, function()
    return M.lua([[return require('specls.rpc').client(0) ~= nil]])
  end)
end

--- End the editor.
function M.reset()
  if channel then
    vim.fn.jobstop(channel)
    channel = nil
  end
end

return M
