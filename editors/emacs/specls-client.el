;;; specls-client.el --- The server specls, a process  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; There's one for all buffers.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'project)
(require 'subr-x)
(require 'specls-text)

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

(defconst specls-client--restarts 4 "After so many crashes in a row the server stays down.")
(defconst specls-client--forgiven 180 "Seconds without a crash, after which it's none in a row.")

(defvar specls-client-ready-hook nil "Run when the server is ready for documents.")
(defvar specls-client-ended-hook nil "Run when the server is gone.")

(defvar specls-client--connection nil "The server, when it runs.")
(defvar specls-client--ready nil "Whether it has shaken hands.")
(defvar specls-client--wanted nil "Whether it's to run.")
(defvar specls-client--crashes 0)
(defvar specls-client--started 0)
(defvar specls-client--state '(:state "stopped") "What it said last of itself: `specls/status'.")

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
         (root (specls-text-uri
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
  (run-hooks 'specls-client-ready-hook))

(defun specls-client--ended (_connection)
  "The process ended."
  (setq specls-client--connection nil
        specls-client--ready nil)
  (run-hooks 'specls-client-ended-hook)
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

(defun specls-client-ready-p ()
  "Whether the server has shaken hands."
  specls-client--ready)

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

(provide 'specls-client)
;;; specls-client.el ends here
