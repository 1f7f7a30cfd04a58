--- What a user is told: once, and not at each key.

local M = {}

---@type table<string, true>
local said = {}

---@param message string
---@param level integer
function M.once(message, level)
  if not said[message] then
    said[message] = true
    vim.notify(message, level, { title = 'specls' })
  end
end

--- Everything may be said again.
function M.forget()
  said = {}
end

return M
