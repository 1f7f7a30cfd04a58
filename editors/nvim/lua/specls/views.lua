--- Windows that show what the server tells: how things stand, its numbers, what the model is given.

local rpc = require('specls.rpc')
local status = require('specls.status')
local switch = require('specls.switch')
local text = require('specls.text')

local M = {}

---@param message string
local function complain(message)
  vim.notify('specls: ' .. message, vim.log.levels.WARN, { title = 'specls' })
end

--- Ask the server something.
---@param method string
---@param params table
---@param receive fun(result: table)
local function ask(method, params, receive)
  local client = rpc.client(vim.api.nvim_get_current_buf()) or rpc.client()
  if not client then
    complain('the server doesn’t run. :checkhealth specls says why.')
    return
  end
  rpc.request(client, method, params, function(err, result)
    if err then
      complain(err.message or 'the server can’t tell.')
    else
      receive(result)
    end
  end)
end

---@param lines string[]
local function float(lines)
  vim.lsp.util.open_floating_preview(lines, 'markdown', { border = 'rounded', focus_id = 'specls' })
end

---@param value any
---@param unit? string
---@return string
local function shown(value, unit)
  if value == nil or value == vim.NIL then
    return '–'
  elseif type(value) == 'number' and value % 1 ~= 0 then
    return ('%.1f%s'):format(value, unit or '')
  end
  return tostring(value) .. (unit or '')
end

--- A line of `name: number` pairs, each number by its key in a table.
---@param title string
---@param values? table
---@param names [string, string, string?][]  key, what people read, unit
---@return string
local function row(title, values, names)
  local parts = {}
  for _, name in ipairs(names) do
    table.insert(parts, ('%s %s'):format(name[2], shown((values or {})[name[1]], name[3])))
  end
  return ('%s: %s'):format(title, table.concat(parts, ', '))
end

---@param stats table  the result of `specls/stats`
---@return string[]
local function stats_lines(stats)
  local suggestions = stats.suggestions or {}
  local counts = {
    { 'shown', 'shown' },
    { 'accepted', 'accepted' },
    { 'partlyAccepted', 'partly' },
    { 'rejected', 'dismissed' },
    { 'ignored', 'ignored' },
  }
  local models = stats.models or {}
  local lines = {
    ('Model: %s, draft: %s'):format(shown(models.target), shown(models.draft)),
    row('Suggestions', suggestions.total, counts),
  }
  for language, numbers in vim.spairs(suggestions.byLanguage or {}) do
    table.insert(lines, row('  ' .. language, numbers, counts))
  end
  local times = { { 'p50Ms', 'half within', ' ms' }, { 'p95Ms', '95 % within', ' ms' } }
  table.insert(lines, row('Answers', stats.latency, times))
  local last = stats.lastCompletion
  if type(last) == 'table' then
    local costs = {
      { 'totalMs', 'took', ' ms' },
      { 'promptTokens', 'prompt' },
      { 'reusedTokens', 'of it known' },
      { 'decodeTokensPerSecond', 'tokens per second' },
    }
    table.insert(lines, row('Last answer', last, costs))
  end
  return lines
end

--- Show the server's numbers.
function M.stats()
  ask('specls/stats', vim.empty_dict(), function(stats)
    float(stats_lines(stats))
  end)
end

--- Show all that the model would be given at the cursor.
function M.context()
  local client = rpc.client(vim.api.nvim_get_current_buf())
  local place = vim.api.nvim_win_get_cursor(0)
  local encoding = client and client.offset_encoding or 'utf-16'
  local character = text.character(vim.api.nvim_get_current_line(), place[2], encoding)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(0) },
    position = { line = place[1] - 1, character = character },
  }
  ask('specls/context', params, function(context)
    if type(context.excluded) == 'string' then
      complain('nothing is read here: ' .. context.excluded)
      return
    end
    local whole = {}
    for _, part in ipairs(context.parts) do
      local path = type(part.path) == 'string' and ' ' .. part.path or ''
      table.insert(whole, ('── %s%s, %d tokens ──'):format(part.kind, path, part.tokens))
      vim.list_extend(whole, vim.split(part.text, '\n', { plain = true }))
    end
    vim.cmd.new()
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
    vim.api.nvim_buf_set_lines(0, 0, -1, false, whole)
    vim.bo.modifiable = false
  end)
end

--- Say how things stand, in one message.
function M.status()
  local now = status.get()
  local state = now.state == 'none' and 'not running' or now.state
  local parts = { 'specls: ' .. state }
  if now.model then
    table.insert(parts, now.model .. (now.draft and ' with ' .. now.draft or ''))
  end
  if now.state ~= 'ready' and now.state ~= 'busy' then
    local remedy = (now.remedy or ''):gsub('^specls models', ':Specls models')
    local message = (now.message or ''):gsub('%.$', '')
    for _, part in ipairs({ message, remedy }) do
      if part ~= '' then
        table.insert(parts, part)
      end
    end
  end
  for _, scope in ipairs({ 'global', 'buffer', 'language' }) do
    if not switch.get(scope) then
      table.insert(parts, ('switched off (:Specls toggle %s)'):format(scope))
    end
  end
  vim.notify(table.concat(parts, '; '), vim.log.levels.INFO, { title = 'specls' })
end

return M
