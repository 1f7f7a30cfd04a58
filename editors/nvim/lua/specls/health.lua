--- `:checkhealth specls`: what is there, what is missing, and what to do about it.

local executable = require('specls.executable')
local rpc = require('specls.rpc')
local status = require('specls.status')

local M = {}

local health = vim.health
local TIMEOUT_MS = 20000

--- Plugins that show ghost text of their own, by module.
local RIVALS =
  { copilot = 'copilot.lua', supermaven = 'supermaven-nvim', codeium = 'windsurf.nvim' }

local function check_neovim()
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. version)
  else
    health.error('Neovim ' .. version .. ' is too old', 'Install Neovim 0.10 or newer.')
  end
end

--- Run the program to its end.
---@param command string[]
---@return string? output
---@return string? problem
local function run(command)
  local ok, process = pcall(vim.system, command, { text = true, timeout = TIMEOUT_MS })
  if not ok then
    return nil, tostring(process)
  end
  local result = process:wait()
  if result.code ~= 0 then
    return nil, vim.trim((result.stderr or '') .. ' (exit code ' .. result.code .. ')')
  end
  return result.stdout
end

---@param config specls.Config
---@return string[]? program
local function check_program(config)
  if type(config.cmd) == 'function' then
    health.info('`cmd` is a function, such as a connection to a server that runs already.')
  end
  local program = executable.program(config)
  if not program then
    health.error('The server isn’t found', executable.HOW_TO)
    return nil
  end
  local version, problem = run(vim.list_extend(vim.deepcopy(program), { '--version' }))
  if not version then
    health.error(program[1] .. ' doesn’t run: ' .. problem, executable.HOW_TO)
    return nil
  end
  health.ok(('%s (%s)'):format(vim.trim(version), table.concat(program, ' ')))
  return program
end

---@param models table[]
---@param id string
local function check_model(models, id)
  for _, model in ipairs(models) do
    if model.id == id then
      if model.present then
        health.ok('The model ' .. id .. ' is here')
      else
        health.error('The model ' .. id .. ' isn’t here yet', ':Specls models pull ' .. id)
      end
      return
    end
  end
  if vim.uv.fs_stat(vim.fs.normalize(id)) then
    health.ok('The model file ' .. id .. ' is here')
  else
    health.error('There is no model ' .. id, ':Specls models lists those that there are.')
  end
end

---@param program string[]
local function check_models(program)
  local command = vim.list_extend(vim.deepcopy(program), { 'models', 'list', '--json' })
  local output, problem = run(command)
  local ok, listing = pcall(vim.json.decode, output or '')
  if not ok then
    health.error('The models can’t be listed: ' .. (problem or tostring(listing)))
    return
  end
  local settings = require('specls.server').settings()
  check_model(listing.models, settings.model or 'qwen2.5-coder-1.5b')
end

local function check_server()
  local now = status.get()
  if not rpc.client() then
    health.warn('The server doesn’t run', 'Open a file of code; then see :Specls log.')
  elseif now.state == 'error' then
    local remedy = now.remedy and now.remedy:gsub('^specls models', ':Specls models')
    health.error(now.message or 'The server reports an error', remedy or 'See :Specls log.')
  else
    local model = now.model and (', ' .. now.model) or ''
    health.ok(('The server runs: %s%s'):format(now.state, model))
  end
end

local function check_neighbours()
  for module, name in vim.spairs(RIVALS) do
    if package.loaded[module] then
      health.warn(name .. ' shows ghost text, too', 'Switch one of the two off.')
    end
  end
  for key, where in pairs({
    ['blink.cmp'] = 'completion.ghost_text',
    cmp = 'experimental.ghost_text',
  }) do
    if package.loaded[key] then
      health.info(('%s is loaded; its own %s should be off.'):format(key, where))
    end
  end
end

--- Run all checks.
function M.check()
  health.start('specls')
  check_neovim()
  local config = require('specls').config()
  if not config then
    health.error('specls isn’t set up', "Call require('specls').setup() in your configuration.")
    return
  end
  local program = check_program(config)
  if program then
    check_models(program)
  end
  check_server()
  check_neighbours()
end

return M
