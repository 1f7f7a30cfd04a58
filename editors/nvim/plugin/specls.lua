if vim.g.loaded_specls then
  return
end
vim.g.loaded_specls = true

vim.api.nvim_create_user_command('Specls', function(arguments)
  require('specls.commands').run(arguments.fargs)
end, {
  nargs = '*',
  desc = 'Inline completion: status, switches, models',
  complete = function(lead, line)
    return require('specls.commands').complete(lead, line)
  end,
})
