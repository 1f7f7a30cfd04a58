;;; specls-client.el --- The server specls, and what it knows of buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; One process for all buffers; each buffer with `specls-mode' is a document of it.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'project)
(require 'subr-x)
(require 'url-util)

(defgroup specls nil
  "Code completion from a model on your own machine."
  :group 'convenience
  :link '(emacs-commentary-link "specls"))

(defcustom specls-command '("specls" "serve")
  "The server's program and its arguments."
  :type '(repeat string)
  :group 'specls)

(defcustom specls-settings nil
  "The server's settings as a property list: docs/settings.md.
For example (:model \"qwen2.5-coder-7b\" :prefetch :json-false)."
  :type 'plist
  :group 'specls)

(defcustom specls-languages
  '((js . "javascript") (js2 . "javascript") (rjsx . "javascriptreact") (tsx . "typescriptreact")
    (c++ . "cpp") (sh . "shellscript") (bash . "shellscript") (emacs-lisp . "lisp")
    (objc . "objective-c") (cperl . "perl") (enh-ruby . "ruby") (text . "plaintext"))
  "The protocol's names of major modes that are called otherwise (without `-mode')."
  :type '(alist :key-type symbol :value-type string)
  :group 'specls)

(defconst specls-client--restarts 4 "After so many crashes in a row the server stays down.")
(defconst specls-client--forgiven 180 "Seconds without a crash, after which it's none in a row.")

(defvar specls-client--connection nil "The server, when it runs.")
(defvar specls-client--ready nil "Whether it has shaken hands.")
(defvar specls-client--wanted nil "Whether it's to run.")
(defvar specls-client--crashes 0)
(defvar specls-client--started 0)
(defvar specls-client--state '(:state "stopped") "What it said last of itself: `specls/status'.")

(defvar-local specls-client--uri nil "Of the current buffer, when the server knows it.")
(defvar-local specls-client--version 0)
(defvar-local specls-client--pending nil "The change that is being made: its protocol's range.")

;;;; Positions and texts

(defun specls-client-units (text)
  "How many UTF-16 code units TEXT has."
  (+ (length text) (cl-count-if (lambda (each) (<= #x10000 each #x10FFFF)) text)))

(defun specls-client-column (line units)
  "The characters of LINE before UNITS UTF-16 code units, at most all."
  (let ((column 0) (left units))
    (while (and (> left 0) (< column (length line)))
      (cl-decf left (if (<= #x10000 (aref line column) #x10FFFF) 2 1))
      (cl-incf column))
    column))

(defun specls-client-position (where)
  "The protocol's position of WHERE in the current buffer."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char where)
      (list :line (1- (line-number-at-pos nil t))
            :character (specls-client-units
                        (buffer-substring-no-properties (line-beginning-position) (point)))))))

(defun specls-client--text (from to)
  "The text between FROM and TO as the file has it, with its line endings.
Bytes that aren't characters are replaced."
  (let ((text (replace-regexp-in-string
               "[\x3FFF80-\x3FFFFF]" "\uFFFD" (buffer-substring-no-properties from to))))
    (if (eq (coding-system-eol-type buffer-file-coding-system) 1)
        (string-replace "\n" "\r\n" text)
      text)))

(defun specls-client--whole ()
  "The whole text of the buffer."
  (save-restriction (widen) (specls-client--text (point-min) (point-max))))

(defun specls-client--file-uri (file)
  "The URI of FILE."
  (let ((path (expand-file-name (or (file-remote-p file 'localname) file))))
    (concat "file://" (unless (string-prefix-p "/" path) "/")
            (url-hexify-string path url-path-allowed-chars))))

;;;; Its life

(defun specls-client-start ()
  "Start the server, if there's none."
  (unless specls-client--wanted
    (setq specls-client--wanted t
          specls-client--crashes 0)
    (specls-client--launch)))

(defun specls-client--launch ()
  "Start the process and shake hands."
  (if (not (executable-find (car specls-command)))
      (specls-client--fail
       (format "there is no program `%s': run `pipx install .' in the folder of specls, or set `specls-command'"
               (car specls-command)))
    (setq specls-client--started (float-time)
          specls-client--state '(:state "starting")
          specls-client--connection
          (make-instance 'jsonrpc-process-connection
                         :name "specls"
                         :events-buffer-scrollback-size 0
                         :process #'specls-client--process
                         :notification-dispatcher #'specls-client--told
                         :on-shutdown #'specls-client--ended))
    (jsonrpc-async-request specls-client--connection :initialize (specls-client--parameters)
                           :success-fn #'specls-client--initialized
                           :error-fn (lambda (error)
                                       (specls-client--fail (plist-get error :message)))
                           :timeout nil)))

(defun specls-client--process ()
  "Make the process."
  (make-process :name "specls"
                :command specls-command
                :connection-type 'pipe
                :coding 'utf-8-emacs-unix
                :noquery t
                :stderr (get-buffer-create "*specls log*")))

(defun specls-client--parameters ()
  "What the server is told at first."
  (let* ((project (project-current))
         (root (specls-client--file-uri
                (directory-file-name
                 (if project (specls-client--root project) default-directory)))))
    (list :processId (emacs-pid)
          :clientInfo (list :name "Emacs specls" :version emacs-version)
          :rootUri root
          :workspaceFolders (vector (list :uri root :name (file-name-nondirectory root)))
          :initializationOptions (or specls-settings (make-hash-table))
          :capabilities
          '(:general (:positionEncodings ["utf-16"])
            :textDocument (:synchronization (:didSave t)
                           :inlineCompletion (:dynamicRegistration :json-false))
            :experimental (:specls (:status t))))))

(defun specls-client--root (project)
  "The folder of PROJECT."
  (if (fboundp 'project-root) (project-root project) (car (with-no-warnings (project-roots project)))))

(defun specls-client--initialized (_result)
  "The server answered: tell it of all buffers."
  (setq specls-client--ready t)
  (setq specls-client--state '(:state "ready"))
  (specls-client-notify :initialized (make-hash-table))
  (specls-client--each #'specls-client-attach))

(defun specls-client--each (function)
  "Call FUNCTION in all buffers with `specls-mode'."
  (dolist (buffer (buffer-list))
    (when (buffer-local-value 'specls-mode buffer)
      (with-current-buffer buffer (funcall function)))))

(defun specls-client--ended (_connection)
  "The process ended."
  (setq specls-client--connection nil
        specls-client--ready nil)
  (specls-client--each (lambda () (setq specls-client--uri nil)))
  (if (not specls-client--wanted)
      (setq specls-client--state '(:state "stopped"))
    (setq specls-client--crashes
          (if (> (- (float-time) specls-client--started) specls-client--forgiven)
              1
            (1+ specls-client--crashes)))
    (if (> specls-client--crashes specls-client--restarts)
        (specls-client--fail "the server ended too often: see *specls log*, then M-x specls-restart")
      (setq specls-client--state '(:state "starting"))
      (run-with-timer (expt 2 (1- specls-client--crashes)) nil #'specls-client--relaunch)))
  (force-mode-line-update t))

(defun specls-client--relaunch ()
  "Start the server again, if it's still wanted."
  (when (and specls-client--wanted (not specls-client--connection))
    (specls-client--launch)))

(defun specls-client--fail (reason)
  "There will be no server, for REASON."
  (setq specls-client--wanted nil
        specls-client--state (list :state "error" :message reason))
  (force-mode-line-update t)
  (message "specls: %s" reason))

(defun specls-client-stop ()
  "End the server."
  (setq specls-client--wanted nil)
  (when-let ((connection specls-client--connection))
    (when specls-client--ready
      (ignore-errors
        (jsonrpc-request connection :shutdown nil :timeout 1)
        (jsonrpc-notify connection :exit nil)))
    (ignore-errors (jsonrpc-shutdown connection t))
    (setq specls-client--connection nil
          specls-client--ready nil)))

(defun specls-client--at-exit ()
  "End the server with Emacs."
  (specls-client-stop))

(add-hook 'kill-emacs-hook #'specls-client--at-exit)

;;;; Messages

(defun specls-client-notify (method params)
  "Tell the server METHOD with PARAMS, if it's ready."
  (when specls-client--ready
    (jsonrpc-notify specls-client--connection method params)))

(defun specls-client-request (method params then)
  "Ask the server METHOD with PARAMS, if it's ready.
THEN is called with the result.  An error is none; it's in the server's log."
  (when specls-client--ready
    (jsonrpc-async-request specls-client--connection method params
                           :success-fn then :error-fn #'ignore :timeout nil)))

(defun specls-client--told (_connection method params)
  "The server told METHOD with PARAMS."
  (pcase method
    ('specls/status
     (setq specls-client--state params)
     (force-mode-line-update t))
    ('window/showMessage
     (message "%s" (plist-get params :message)))))

(defun specls-client-word (&optional state)
  "What the server does, in a word or two; STATE is what it said of itself."
  (let ((state (or state specls-client--state)))
    (pcase (plist-get state :state)
      ((or "ready" "busy") "specls")
      ("loading" (format "specls:%d%%%%" (or (plist-get state :progress) 0)))
      (other (concat "specls:" other)))))

(defun specls-client-sentence (&optional state)
  "What the server does, and what is to be done about it.
STATE is what it said of itself."
  (let* ((state (or state specls-client--state))
         (told (delq nil (list (plist-get state :message) (plist-get state :remedy)))))
    (string-join (cons (plist-get state :state) (remove "" told)) "; ")))

;;;; Documents

(defun specls-client-document ()
  "The protocol's identifier of the current buffer."
  (list :uri specls-client--uri))

(defun specls-client--language ()
  "The protocol's name of the language of the current buffer."
  (let ((name (replace-regexp-in-string "\\(?:-ts\\)?-mode\\'" "" (symbol-name major-mode))))
    (or (alist-get (intern name) specls-languages) name)))

(defun specls-client-attach ()
  "Tell the server of the current buffer; start it for that."
  (specls-client-start)
  (when (and specls-client--ready (not specls-client--uri))
    (setq specls-client--uri (if buffer-file-name
                                 (specls-client--file-uri buffer-file-name)
                               (concat "untitled:" (url-hexify-string (buffer-name))))
          specls-client--version 1)
    (specls-client-notify
     :textDocument/didOpen
     (list :textDocument (list :uri specls-client--uri :languageId (specls-client--language)
                               :version 1 :text (specls-client--whole)))))
  (add-hook 'before-change-functions #'specls-client--before-change nil t)
  (add-hook 'after-change-functions #'specls-client--after-change nil t)
  (add-hook 'after-revert-hook #'specls-client--resend nil t)
  (add-hook 'after-save-hook #'specls-client--saved nil t)
  (add-hook 'kill-buffer-hook #'specls-client-detach nil t))

(defun specls-client-detach ()
  "Let the server forget the current buffer."
  (when specls-client--uri
    (specls-client-notify :textDocument/didClose (list :textDocument (specls-client-document)))
    (setq specls-client--uri nil))
  (remove-hook 'before-change-functions #'specls-client--before-change t)
  (remove-hook 'after-change-functions #'specls-client--after-change t)
  (remove-hook 'after-revert-hook #'specls-client--resend t)
  (remove-hook 'after-save-hook #'specls-client--saved t)
  (remove-hook 'kill-buffer-hook #'specls-client-detach t))

(defun specls-client--before-change (from to)
  "Remember where FROM and TO are, for the server."
  (when specls-client--uri
    (setq specls-client--pending
          (list from to (specls-client-position from) (specls-client-position to)))))

(defun specls-client--after-change (from to before)
  "Tell of a change: FROM to TO is new, and BEFORE characters stood there.
Where Emacs had announced another one, the whole text is sent."
  (when specls-client--uri
    (pcase-let ((`(,start ,end ,from-place ,to-place) specls-client--pending))
      (specls-client--send
       (if (and start (= start from) (= (- end start) before))
           (list :range (list :start from-place :end to-place)
                 :text (save-restriction (widen) (specls-client--text from to)))
         (list :text (specls-client--whole)))))
    (setq specls-client--pending nil)))

(defun specls-client--send (change)
  "Tell of one CHANGE of the current buffer."
  (cl-incf specls-client--version)
  (specls-client-notify
   :textDocument/didChange
   (list :textDocument (list :uri specls-client--uri :version specls-client--version)
         :contentChanges (vector change))))

(defun specls-client--resend ()
  "Send the whole text."
  (when specls-client--uri
    (specls-client--send (list :text (specls-client--whole)))))

(defun specls-client--saved ()
  "The buffer was saved, perhaps under another name."
  (if (equal specls-client--uri (specls-client--file-uri buffer-file-name))
      (specls-client-notify :textDocument/didSave
                            (list :textDocument (specls-client-document)))
    (specls-client-detach)
    (specls-client-attach)))

(provide 'specls-client)
;;; specls-client.el ends here
