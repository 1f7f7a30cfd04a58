--- Runs the tests of this folder, or the files named: `nvim --clean --headless -l tests/run.lua`.

local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(here, ':p'))))
package.path = here .. '/?.lua;' .. package.path
vim.cmd('runtime plugin/specls.lua')

local passed, failed = 0, 0

---@param name string  one sentence of behaviour
---@param body fun()
function _G.test(name, body)
  local ok, problem = xpcall(body, debug.traceback)
  require('editor').reset()
  if ok then
    passed = passed + 1
    print('ok - ' .. name)
  else
    failed = failed + 1
    print('not ok - ' .. name .. '\n' .. problem)
  end
end

---@param expected any
---@param actual any
function _G.equal(expected, actual)
  if not vim.deep_equal(expected, actual) then
    error(('expected %s\n     got %s'):format(vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

local files = vim.list_slice(_G.arg, 1)
if #files == 0 then
  files = vim.fn.glob(here .. '/*_spec.lua', false, true)
end
for _, file in ipairs(files) do
  dofile(file)
end
print(('%d passed, %d failed'):format(passed, failed))
vim.cmd(failed > 0 and 'cquit' or 'qall!')
