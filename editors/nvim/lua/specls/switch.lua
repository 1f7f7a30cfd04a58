--- Switches: for everything, for a buffer, for a language.

local M = {}

---@type table<string, boolean>  by filetype
local languages = {}
local everything = true

---@alias specls.Scope 'global'|'buffer'|'language'

--- Whether suggestions are on in a buffer: all switches have to be.
---@param bufnr integer
---@return boolean
function M.on(bufnr)
  return everything
    and vim.b[bufnr].specls_enabled ~= false
    and languages[vim.bo[bufnr].filetype] ~= false
end

--- Whether one switch is on.
---@param scope specls.Scope
---@return boolean
function M.get(scope)
  if scope == 'global' then
    return everything
  elseif scope == 'buffer' then
    return vim.b.specls_enabled ~= false
  end
  return languages[vim.bo.filetype] ~= false
end

--- Turn a switch; the buffer and the language are those of the current window.
---@param scope specls.Scope
---@param on boolean
function M.set(scope, on)
  if scope == 'global' then
    everything = on
  elseif scope == 'buffer' then
    vim.b.specls_enabled = on
  else
    languages[vim.bo.filetype] = on
  end
end

return M
