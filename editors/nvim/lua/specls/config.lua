--- What a user may say in `setup`, with what holds where they say nothing.

local M = {}

---@class specls.Keymaps
---@field accept string|false        the whole suggestion
---@field accept_word string|false   its next word
---@field accept_line string|false   the rest of its line
---@field next string|false          another suggestion
---@field previous string|false      the one before
---@field dismiss string|false       away with it
---@field trigger string|false       ask for one now

---@class specls.Config
---@field cmd? string[]|fun(dispatchers: table): table  the server; without, `specls` is looked for
---@field settings table<string, any>       the server's settings, as in docs/settings.md
---@field filetypes table<string, boolean>  false: no server there; `['*']` counts for the rest
---@field root_markers string[]             files that show where a workspace begins
---@field auto_trigger boolean              ask while typing; else only on request
---@field debounce_ms integer               milliseconds between a key and the request
---@field menu 'respect'|'hide'             beside a completion menu: go on from its entry, or yield
---@field display 'specls'|'builtin'        who shows the text: this plugin, or Neovim 0.12 itself
---@field keymaps boolean|table<string, string|false>  true for the default ones
---@field log_file string|false             where the server writes its log

---@type specls.Keymaps
M.keymaps = {
  accept = '<Tab>',
  accept_word = '<C-Right>',
  accept_line = '<C-Down>',
  next = '<M-]>',
  previous = '<M-[>',
  dismiss = '<C-]>',
  trigger = '<M-Bslash>',
}

---@type specls.Config
M.defaults = {
  cmd = nil,
  settings = {},
  filetypes = {
    ['*'] = true,
    checkhealth = false,
    gitrebase = false,
    help = false,
    man = false,
    netrw = false,
    qf = false,
  },
  root_markers = { '.git', '.hg', 'pyproject.toml', 'package.json', 'Cargo.toml', 'go.mod' },
  auto_trigger = true,
  debounce_ms = 15,
  menu = 'respect',
  display = 'specls',
  keymaps = false,
  log_file = vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'specls.log'),
}

---@param value any
---@param choices string[]
local function one_of(value, choices)
  return vim.tbl_contains(choices, value), "'" .. table.concat(choices, "' or '") .. "'"
end

---@type table<string, fun(value: any): boolean, string>
local checks = {
  cmd = function(value)
    local kind = type(value)
    return kind == 'function' or (vim.islist(value) and #value > 0), 'a list of strings'
  end,
  settings = function(value)
    return type(value) == 'table', 'a table'
  end,
  filetypes = function(value)
    return type(value) == 'table', 'a table of booleans, by filetype'
  end,
  root_markers = function(value)
    return vim.islist(value), 'a list of file names'
  end,
  auto_trigger = function(value)
    return type(value) == 'boolean', 'true or false'
  end,
  debounce_ms = function(value)
    return type(value) == 'number' and value >= 0, 'a number of milliseconds'
  end,
  menu = function(value)
    return one_of(value, { 'respect', 'hide' })
  end,
  display = function(value)
    return one_of(value, { 'specls', 'builtin' })
  end,
  keymaps = function(value)
    return type(value) == 'boolean' or type(value) == 'table', 'true, false or a table'
  end,
  log_file = function(value)
    return type(value) == 'string' or value == false, 'a path, or false'
  end,
}

---@param given table
---@return string[] problems  one sentence for each name or value that is wrong
function M.problems(given)
  local found = {} ---@type string[]
  for name, value in pairs(given) do
    local check = checks[name]
    if not check then
      table.insert(found, ('%s is no option of setup.'):format(name))
    else
      local right, wanted = check(value)
      if not right then
        table.insert(found, ('%s has to be %s.'):format(name, wanted))
      end
    end
  end
  if type(given.keymaps) == 'table' then
    for name in pairs(given.keymaps) do
      if M.keymaps[name] == nil then
        table.insert(found, ('keymaps.%s is no action.'):format(name))
      end
    end
  end
  table.sort(found)
  return found
end

--- Lay what was given over the defaults. What is wrong is left out.
---@param given table
---@return specls.Config
---@return string[] problems
function M.read(given)
  local problems = M.problems(given)
  local right = {}
  for name, value in pairs(given) do
    if checks[name] and checks[name](value) then
      right[name] = value
    end
  end
  return vim.tbl_deep_extend('force', M.defaults, right), --[[@as specls.Config]]
    problems
end

--- Which key does what; nothing unless the user wants keys.
---@param keymaps boolean|table<string, string|false>
---@return table<string, string|false>
function M.keys(keymaps)
  if not keymaps then
    return {}
  end
  local given = type(keymaps) == 'table' and keymaps or {}
  local keys = {}
  for action, key in pairs(M.keymaps) do
    keys[action] = given[action] == nil and key or given[action]
  end
  return keys
end

return M
