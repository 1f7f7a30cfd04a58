--- Where the server is.

local M = {}

--- Where `pipx` and `pip --user` put programs, which not every PATH has.
local FALLBACKS = { '~/.local/bin/specls' }

M.HOW_TO = 'Install it (`pipx install` in its repository), or name it: setup({ cmd = { … } }).'

--- The program, on PATH or where installers put it. A workspace's own environment isn't searched:
--- opening a folder must run nothing that came with it.
---@return string?
function M.find()
  local found = vim.fn.exepath('specls')
  if found ~= '' then
    return found
  end
  for _, path in ipairs(FALLBACKS) do
    local whole = vim.fs.normalize(path)
    if vim.fn.executable(whole) == 1 then
      return whole
    end
  end
end

--- The command that starts the server.
---@param config specls.Config
---@return (string[]|fun(dispatchers: table): table)?  nil where there's no program
function M.command(config)
  if type(config.cmd) == 'function' then
    return config.cmd
  elseif config.cmd then
    return vim.fn.executable(config.cmd[1]) == 1 and config.cmd or nil
  end
  local program = M.find()
  if not program then
    return nil
  end
  local command = { program, 'serve' }
  if config.log_file then
    vim.fn.mkdir(vim.fs.dirname(config.log_file), 'p')
    vim.list_extend(command, { '--log-file', config.log_file })
  end
  return command
end

--- The program without what it's told to do, for its other subcommands.
---@param config specls.Config
---@return string[]?
function M.program(config)
  local command = M.command(config)
  if type(command) == 'function' then
    local program = M.find()
    return program and { program } or nil
  elseif not command then
    return nil
  end
  local serve = vim.fn.index(command, 'serve')
  return vim.list_slice(command, 1, serve > 0 and serve or 1)
end

return M
