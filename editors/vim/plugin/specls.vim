if has('nvim') || !has('vim9script') || !has('patch-9.0.1378') || !has('channel') || !has('job')
  if !has('nvim')
    echohl WarningMsg
    echomsg 'specls: needs Vim 9.0.1378 or newer with +channel and +job'
    echohl None
  endif
  finish
endif
vim9script

if get(g:, 'loaded_specls', false)
  finish
endif
g:loaded_specls = true
if &encoding != 'utf-8'
  echohl WarningMsg
  echomsg "specls: needs 'encoding' to be utf-8"
  echohl None
  finish
endif

import autoload '../autoload/specls.vim'
import autoload '../autoload/specls/command.vim'
import autoload '../autoload/specls/documents.vim'
import autoload '../autoload/specls/options.vim'
import autoload '../autoload/specls/server.vim'

def Colours()
  execute $'highlight default SpeclsGhost guifg=#808080 ctermfg={str2nr(&t_Co) >= 256 ? 244 : 8}'
enddef

Colours()

command -nargs=1 -bar -complete=customlist,command.Names Specls command.Run(<q-args>)

inoremap <silent> <Plug>(specls-accept) <C-G>u<Cmd>call <SID>specls.Accept('all')<CR>
inoremap <silent> <Plug>(specls-accept-word) <Cmd>call <SID>specls.Accept('word')<CR>
inoremap <silent> <Plug>(specls-accept-line) <Cmd>call <SID>specls.Accept('line')<CR>
inoremap <silent> <Plug>(specls-dismiss) <Cmd>call <SID>specls.Dismiss()<CR>
inoremap <silent> <Plug>(specls-trigger) <Cmd>call <SID>specls.Trigger()<CR>
inoremap <silent> <Plug>(specls-next) <Cmd>call <SID>specls.Next(1)<CR>
inoremap <silent> <Plug>(specls-previous) <Cmd>call <SID>specls.Next(-1)<CR>

# A key does this where a suggestion is shown, and what it always does elsewhere.
def Key(key: string, plug: string)
  if mapcheck(key, 'i') == ''
    execute $'imap <silent> <expr> {key} specls.Visible() ? "\<Plug>(specls-{plug})" : "\{key}"'
  endif
enddef

# Where nothing is shown these do something, too.
def AnyKey(key: string, plug: string)
  if mapcheck(key, 'i') == ''
    execute $'imap <silent> {key} <Plug>(specls-{plug})'
  endif
enddef

def Started()
  var problem = options.Problem()
  if problem != ''
    server.Say(problem)
  endif
  if options.Get('keys')
    Key('<Tab>', 'accept')
    Key('<C-Right>', 'accept-word')
    Key('<C-Down>', 'accept-line')
    Key('<C-]>', 'dismiss')
    AnyKey('<C-G>n', 'next')
    AnyKey('<C-G>p', 'previous')
    AnyKey('<C-G><Space>', 'trigger')
  endif
  specls.Entered()
enddef

augroup specls
  autocmd!
  autocmd FileType * specls.Retyped(expand('<abuf>')->str2nr())
  autocmd BufEnter * specls.Entered()
  autocmd BufReadPost,FileChangedShellPost * documents.Resend(expand('<abuf>')->str2nr())
  autocmd BufFilePost * documents.Reopen(expand('<abuf>')->str2nr())
  autocmd BufWritePost * documents.Saved(expand('<abuf>')->str2nr())
  autocmd BufUnload * documents.Close(expand('<abuf>')->str2nr())
  autocmd OptionSet fileformat documents.Resend(bufnr())
  autocmd InsertEnter * specls.InsertEntered()
  autocmd TextChangedI,TextChangedP,CursorMovedI * specls.Moved()
  autocmd InsertLeave,BufLeave * specls.InsertLeft()
  autocmd ColorScheme * Colours()
  autocmd VimLeavePre * server.Stop()
augroup END

if v:vim_did_enter
  Started()
else
  autocmd specls VimEnter * ++once Started()
endif
