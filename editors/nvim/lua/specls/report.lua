--- Telling the server what became of its suggestions; it counts, and learns what comes next.

local rpc = require('specls.rpc')

local M = {}

---@param suggestion specls.Suggestion
---@param method string
---@param params table
local function tell(suggestion, method, params)
  local client = vim.lsp.get_client_by_id(suggestion.client_id)
  if client then
    params.item = suggestion.item
    rpc.notify(client, method, params)
  end
end

--- It's seen. Told once.
---@param suggestion specls.Suggestion
function M.shown(suggestion)
  if not suggestion.told then
    suggestion.told = true
    tell(suggestion, 'textDocument/didShowCompletion', {})
  end
end

--- All of it was taken.
---@param suggestion specls.Suggestion
function M.accepted(suggestion)
  local client = vim.lsp.get_client_by_id(suggestion.client_id)
  if client and suggestion.item.command then
    rpc.execute(client, suggestion.item.command)
  end
end

--- A word or line of it was taken.
---@param suggestion specls.Suggestion
---@param length integer  bytes of its text that stand before the cursor now
function M.partly_accepted(suggestion, length)
  suggestion.partly = true
  local units = suggestion:accepted_length(length)
  tell(suggestion, 'textDocument/didPartiallyAcceptCompletion', { acceptedLength = units })
end

--- It went away. Told of those that were seen, and of which nothing was accepted.
---@param suggestion specls.Suggestion
---@param ignored boolean  something else was typed; else it was sent away
function M.rejected(suggestion, ignored)
  if suggestion.told and not suggestion.partly then
    tell(suggestion, 'specls/didRejectCompletion', { ignored = ignored })
  end
end

return M
