--- Models: which there are, which one answers, fetching others.

local executable = require('specls.executable')
local rpc = require('specls.rpc')

local M = {}

---@class specls.Model
---@field id string
---@field name string
---@field kind 'target'|'draft'
---@field bytes? integer
---@field licence string
---@field present boolean
---@field current boolean
---@field drafts string[]

---@param message string
---@param level? integer
local function say(message, level)
  local sentence = 'specls: ' .. message:gsub('^specls: ', '')
  vim.notify(sentence, level or vim.log.levels.INFO, { title = 'specls' })
end

--- One step of `specls models pull --json`: shown in the command line, which is redrawn in place.
---@param line string
local function show_progress(line)
  local ok, step = pcall(vim.json.decode, line)
  if ok and step.id then
    local share = step.total and step.total > 0 and step.done and step.done * 100 / step.total
    local percent = share and ('%d %%'):format(share) or ''
    vim.api.nvim_echo(
      { { ('specls: %s %s %s'):format(step.id, step.state or '', percent) } },
      false,
      {}
    )
    vim.cmd.redraw()
  end
end

--- Lines as they come in pieces.
---@param each fun(line: string)
---@return fun(err: string?, data: string?)
local function by_line(each)
  local pending = ''
  return vim.schedule_wrap(function(_, data)
    pending = pending .. (data or '')
    for line in pending:gmatch('(.-)\n') do
      each(line)
    end
    pending = pending:match('([^\n]*)$') or ''
  end)
end

--- Have the server try again with what is there now.
local function reload()
  local client = rpc.client()
  if client then
    rpc.execute(client, { command = 'specls.reload', arguments = {} })
  end
end

--- Fetch models; the server loads what it waited for.
---@param ids string[]   none: the default ones
---@param done? fun()    called when they are there
function M.pull(ids, done)
  local config = require('specls').config()
  local program = config and executable.program(config)
  if not program then
    say('the program isn’t found. ' .. executable.HOW_TO, vim.log.levels.ERROR)
    return
  end
  local command = vim.list_extend(vim.deepcopy(program), { 'models', 'pull', '--json' })
  vim.list_extend(command, #ids > 0 and ids or { '--default' })
  say('fetching ' .. (#ids > 0 and table.concat(ids, ', ') or 'the default models') .. '.')
  vim.system(
    command,
    { text = true, stdout = by_line(show_progress) },
    vim.schedule_wrap(function(result)
      if result.code ~= 0 then
        local why = vim.trim(result.stderr or '')
        say(why ~= '' and why or 'that failed.', vim.log.levels.ERROR)
        return
      end
      say('fetched.')
      if done then
        done()
      end
      reload()
    end)
  )
end

--- Use a model from now on.
---@param model specls.Model
local function use(model)
  local name = model.kind == 'draft' and 'draftModel' or 'model'
  require('specls.server').configure({ [name] = model.id })
  say(('%s is %s until you restart; setup({ settings = … }) keeps it.'):format(name, model.id))
end

---@param model specls.Model
---@return string
local function line_of(model)
  local state = model.current and 'in use' or model.present and 'here' or 'to be fetched'
  local size = type(model.bytes) == 'number' and ('%.1f GB'):format(model.bytes / 1e9) or 'size ?'
  return ('%s (%s, %s, %s; %s)'):format(model.name, model.kind, size, model.licence, state)
end

--- Ask the server for its models.
---@param receive fun(models: specls.Model[])
function M.list(receive)
  local client = rpc.client()
  if not client then
    say('the server doesn’t run. :checkhealth specls says why.', vim.log.levels.WARN)
    return
  end
  rpc.request(client, 'specls/models', vim.empty_dict(), function(err, result)
    if err then
      say('the server can’t tell its models: ' .. (err.message or ''), vim.log.levels.ERROR)
    else
      receive(result.models)
    end
  end)
end

--- Have the user choose a model, fetch it if it isn't here, and use it.
function M.choose()
  M.list(function(models)
    vim.ui.select(models, { prompt = 'Model', format_item = line_of }, function(model)
      if not model then
        return
      elseif model.present then
        use(model)
      else
        M.pull({ model.id }, function()
          use(model)
        end)
      end
    end)
  end)
end

return M
