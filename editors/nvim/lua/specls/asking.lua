--- Requests for suggestions: one at a time, the newest.

local menu = require('specls.menu')
local moment = require('specls.moment')
local rpc = require('specls.rpc')
local text = require('specls.text')

local M = {}

M.INVOKED, M.AUTOMATIC = 1, 2
local METHOD = 'textDocument/inlineCompletion'
local TOKEN = 'specls-inline-'

---@class specls.Asked
---@field bufnr integer
---@field row integer
---@field col integer
---@field kind 1|2
---@field selected boolean  an entry of the menu counted as typed
---@field client table
---@field token? string     names what comes before the answer
---@field early? boolean    something came before it
---@field id? integer

---@type specls.Asked?
local asked
---@type (fun(request: specls.Asked, items: table[]))?
local receiver
local number = 0
local timer = assert(vim.uv.new_timer())

--- Take back what was asked, and what was to be.
function M.cancel()
  timer:stop()
  local before = asked
  asked = nil
  if before and before.id then
    rpc.cancel(before.client.id, before.id)
  end
end

---@param request specls.Asked
---@return table  InlineCompletionParams
local function params_of(request)
  local line = vim.api.nvim_get_current_line()
  local function place(byte)
    local character = text.character(line, byte, request.client.offset_encoding)
    return { line = request.row, character = character }
  end
  local context = { triggerKind = request.kind } ---@type table
  local selected = menu.selected(line:sub(1, request.col))
  if selected then
    request.selected = true
    context.selectedCompletionInfo = {
      range = { start = place(request.col - selected.length), ['end'] = place(request.col) },
      text = selected.word,
    }
  end
  return {
    textDocument = { uri = vim.uri_from_bufnr(request.bufnr) },
    position = place(request.col),
    context = context,
    partialResultToken = request.token,
  }
end

--- What comes before an answer: the first line, then all of it.
---@param token any
---@param items any
---@return boolean ours  false where something else's progress is told
function M.early(token, items)
  if not vim.startswith(tostring(token), TOKEN) then
    return false
  end
  if asked and receiver and asked.token == token and vim.islist(items) then
    asked.early = true
    receiver(asked, items)
  end
  return true
end

--- Ask for suggestions at the cursor. An answer that comes too late isn't handed on, nor an error.
---@param kind 1|2
---@param receive fun(request: specls.Asked, items: table[])
function M.ask(kind, receive)
  M.cancel()
  local bufnr = vim.api.nvim_get_current_buf()
  local client = rpc.client(bufnr)
  if not client then
    return
  end
  local row, col = moment.cursor()
  ---@type specls.Asked
  local request =
    { bufnr = bufnr, row = row, col = col, kind = kind, selected = false, client = client }
  if kind == M.AUTOMATIC then
    number = number + 1
    request.token = TOKEN .. number
  end
  asked, receiver = request, receive
  request.id = rpc.request(client, METHOD, params_of(request), function(err, result)
    if asked ~= request then
      return
    end
    asked = nil
    local items = result and (result.items or result) or {}
    if not err and not (request.early and #items == 0) then
      receive(request, items)
    end
  end, bufnr)
end

--- Do something in a moment, unless something else is to be done by then.
---@param milliseconds integer
---@param work fun()
function M.soon(milliseconds, work)
  timer:stop()
  timer:start(milliseconds, 0, vim.schedule_wrap(work))
end

return M
