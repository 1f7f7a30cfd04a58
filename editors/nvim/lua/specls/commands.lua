--- `:Specls` and what may stand behind it.

local M = {}

---@class specls.Subcommand
---@field run fun(arguments: string[])
---@field choices? string[]

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify('specls: ' .. message, level or vim.log.levels.INFO, { title = 'specls' })
end

local SCOPES = { 'global', 'buffer', 'language' }

---@param arguments string[]
local function toggle(arguments)
  local scope = arguments[1] or 'global'
  if not vim.tbl_contains(SCOPES, scope) then
    say('toggle what? global, buffer or language.', vim.log.levels.ERROR)
    return
  end
  local on = require('specls').toggle(scope --[[@as specls.Scope]])
  local where = { global = '', buffer = ' in this buffer', language = ' in ' .. vim.bo.filetype }
  say((on and 'on' or 'off') .. where[scope] .. '.')
end

---@param arguments string[]
local function models(arguments)
  if arguments[1] == 'pull' then
    require('specls.models').pull(vim.list_slice(arguments, 2))
  else
    require('specls.models').choose()
  end
end

local function open_log()
  local config = require('specls').config()
  local file = config and config.log_file
  if file and vim.uv.fs_stat(file) then
    vim.cmd.tabedit(vim.fn.fnameescape(file))
    vim.cmd.normal({ 'G', bang = true })
  else
    say('there is no log yet.')
  end
end

--- `name=value`; the value as JSON has it, and else a string.
---@param arguments string[]
local function set(arguments)
  local changes = {}
  for _, argument in ipairs(arguments) do
    local name, value = argument:match('^([%w]+)=(.+)$')
    if not name or not value then
      say('set what? For example: maxTokens=32', vim.log.levels.ERROR)
      return
    end
    local ok, read = pcall(vim.json.decode, value)
    if ok then
      changes[name] = read
    else
      changes[name] = value
    end
  end
  require('specls').configure(changes)
end

---@type table<string, specls.Subcommand>
local subcommands = {
  context = {
    run = function()
      require('specls.views').context()
    end,
  },
  log = { run = open_log },
  models = { run = models, choices = { 'pull' } },
  restart = {
    run = function()
      require('specls').restart()
    end,
  },
  set = { run = set },
  stats = {
    run = function()
      require('specls.views').stats()
    end,
  },
  status = {
    run = function()
      require('specls.views').status()
    end,
  },
  toggle = { run = toggle, choices = SCOPES },
}

--- Run a subcommand; without one, `status`.
---@param arguments string[]
function M.run(arguments)
  local name = arguments[1] or 'status'
  local subcommand = subcommands[name]
  if not require('specls').config() then
    say("it isn't set up: require('specls').setup() does that.", vim.log.levels.ERROR)
  elseif not subcommand then
    local names = table.concat(vim.fn.sort(vim.tbl_keys(subcommands)), ', ')
    say(('%s is no subcommand; there are %s.'):format(name, names), vim.log.levels.ERROR)
  else
    subcommand.run(vim.list_slice(arguments, 2))
  end
end

--- What may stand at the cursor of the command line.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local first = line:match('^%s*Specls%s+(%S+)%s')
  local choices = vim.tbl_keys(subcommands)
  if first then
    choices = subcommands[first] and subcommands[first].choices or {}
  end
  local fitting = vim.tbl_filter(function(choice)
    return vim.startswith(choice, lead)
  end, choices)
  table.sort(fitting)
  return fitting
end

return M
