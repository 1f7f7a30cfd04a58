;;; specls-ghost.el --- Suggestions as ghost text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What is suggested, what of it still fits, and how that is shown and accepted.

;;; Code:

(require 'cl-lib)
(require 'specls-client)
(require 'specls-text)

(defface specls-ghost '((t :inherit shadow))
  "Text that is suggested."
  :group 'specls)

(defvar specls-ghost-map (make-sparse-keymap)
  "Keys while a suggestion is shown.")

(cl-defstruct (specls-ghost (:constructor specls-ghost--make) (:copier nil))
  "A suggestion: TEXT is to stand from START on.
REPLACED behind the cursor goes when all of it is accepted; TAIL, the rest of the line, stays.
DONE are the UTF-16 code units of the server's text that lie before TEXT."
  item start text replaced tail crlf (done 0) shown)

(defvar-local specls-ghost--all nil "The suggestions that can be shown.")
(defvar-local specls-ghost--chosen 0 "Which of them is shown.")
(defvar-local specls-ghost--overlay nil "What shows it.")
(defvar-local specls-ghost--visible nil "Whether one is shown; turns on the keys.")

(defvar specls-ghost--keymaps `((specls-ghost--visible . ,specls-ghost-map)))
(add-to-list 'emulation-mode-map-alists 'specls-ghost--keymaps)

;;;; What fits

(defun specls-ghost-place ()
  "What has to be known of point when an answer for it comes."
  (list :point (point)
        :bol (line-beginning-position)
        :line (buffer-substring-no-properties (line-beginning-position) (line-end-position))))

(defun specls-ghost--read (item place)
  "The suggestion of the protocol's ITEM that was asked for at PLACE.
Nil if it can't be shown."
  (let* ((insert (plist-get item :insertText))
         (text (if (stringp insert) insert (plist-get insert :value)))
         (range (plist-get item :range))
         (line (plist-get place :line))
         (column (- (plist-get place :point) (plist-get place :bol)))
         (start (specls-ghost--column range :start line column))
         (end (specls-ghost--column range :end line column)))
    (when (<= start column end)
      (specls-ghost--make
       :item item
       :start (copy-marker (+ (plist-get place :bol) start))
       :text (remove ?\r text)
       :replaced (substring line column end)
       :tail (substring line end)
       :crlf (string-search "\r\n" text)))))

(defun specls-ghost--column (range end line column)
  "The column where RANGE has its END, :start or :end, in LINE.
COLUMN where there is no range."
  (if range
      (specls-text-column line (plist-get (plist-get range end) :character))
    column))

(defun specls-ghost--rest (ghost)
  "What of GHOST would follow point now.
Nil if it doesn't fit what was typed, or nothing is left."
  (when (and ghost (marker-buffer (specls-ghost-start ghost))
             (<= (specls-ghost-start ghost) (point)))
    (let ((typed (buffer-substring-no-properties (specls-ghost-start ghost) (point)))
          (behind (buffer-substring-no-properties (point) (line-end-position)))
          (text (specls-ghost-text ghost)))
      (and (string-prefix-p typed text)
           (string= behind (concat (specls-ghost-replaced ghost) (specls-ghost-tail ghost)))
           (> (length text) (length typed))
           (substring text (length typed))))))

(defun specls-ghost--current ()
  "The suggestion that is shown, or would be."
  (nth specls-ghost--chosen specls-ghost--all))

(defun specls-ghost-word (rest)
  "The first word of REST, with the blanks and ends of lines before it."
  (let ((case-fold-search nil))
    (if (string-match "\\`[[:space:]\n]*\\(?:[[:word:]_]+\\|[^[:word:][:space:]_\n]+\\|\\'\\)" rest)
        (match-string 0 rest)
      rest)))

(defun specls-ghost-line (rest)
  "The first line of REST; where nothing is left of that, the next one."
  (if (string-match "\\`\n*[^\n]+" rest) (match-string 0 rest) rest))

;;;; What is seen

(defun specls-ghost--hide ()
  "Take the ghost text away."
  (setq specls-ghost--visible nil)
  (when specls-ghost--overlay
    (delete-overlay specls-ghost--overlay)
    (setq specls-ghost--overlay nil)))

(defun specls-ghost--show (text)
  "Show TEXT behind point, with the cursor before it.
Inside of a line it's shown with the character that follows, as that one's
display: before any other string there the cursor would stand behind it."
  (specls-ghost--hide)
  (let* ((ghost (propertize text 'face 'specls-ghost))
         (end (if (eolp) (point) (1+ (point))))
         (overlay (make-overlay (point) end nil nil t)))
    (put-text-property 0 (min 1 (length ghost)) 'cursor t ghost)
    (overlay-put overlay 'priority 9000)
    (if (eolp)
        (overlay-put overlay 'after-string ghost)
      (overlay-put overlay 'display (concat ghost (buffer-substring (point) end))))
    (setq specls-ghost--overlay overlay
          specls-ghost--visible t)))

(defun specls-ghost-refresh ()
  "Show what is left of the suggestion; nil if it doesn't fit any more."
  (let* ((ghost (specls-ghost--current))
         (rest (specls-ghost--rest ghost)))
    (when rest
      (specls-ghost--show (string-remove-suffix (specls-ghost-replaced ghost) rest))
      (unless (specls-ghost-shown ghost)
        (setf (specls-ghost-shown ghost) t)
        (specls-client-notify :textDocument/didShowCompletion
                              (list :item (specls-ghost-item ghost))))
      t)))

(defun specls-ghost-offer (items place)
  "Show the first of the protocol's ITEMS that fits; they were asked for at PLACE."
  (specls-ghost-drop t)
  (dolist (item items)
    (let ((ghost (specls-ghost--read item place)))
      (when (and ghost (specls-ghost--rest ghost))
        (push ghost specls-ghost--all))))
  (setq specls-ghost--all (nreverse specls-ghost--all))
  (specls-ghost-refresh))

(defun specls-ghost-drop (ignored)
  "Take the suggestions away.
IGNORED is nil where somebody asked for that."
  (specls-ghost--hide)
  (dolist (ghost specls-ghost--all)
    (when (specls-ghost-shown ghost)
      (specls-client-notify :specls/didRejectCompletion
                            (list :item (specls-ghost-item ghost)
                                  :ignored (if ignored t :json-false))))
    (set-marker (specls-ghost-start ghost) nil))
  (setq specls-ghost--all nil
        specls-ghost--chosen 0))

(defun specls-ghost-cycle (step)
  "Show the suggestion STEP further on; nil if there is only one."
  (when (cdr specls-ghost--all)
    (setq specls-ghost--chosen (mod (+ specls-ghost--chosen step) (length specls-ghost--all)))
    (specls-ghost-refresh)))

;;;; What is accepted

(defun specls-ghost-accept (part)
  "Insert what the function PART takes of the suggestion.
Return whether that was all of it."
  (let* ((ghost (specls-ghost--current))
         (rest (specls-ghost--rest ghost)))
    (unless rest (user-error "There is no suggestion here"))
    (let* ((piece (funcall part rest))
           (whole (string= piece rest)))
      (specls-ghost--hide)
      (undo-boundary)
      (when whole
        (delete-region (point) (+ (point) (length (specls-ghost-replaced ghost)))))
      (insert piece)
      (if whole (specls-ghost--finish ghost) (specls-ghost--go-on ghost))
      whole)))

(defun specls-ghost--finish (ghost)
  "All of GHOST is in the buffer."
  (let ((command (plist-get (specls-ghost-item ghost) :command)))
    (setq specls-ghost--all nil
          specls-ghost--chosen 0)
    (when command
      (specls-client-request :workspace/executeCommand
                             (list :command (plist-get command :command)
                                   :arguments (or (plist-get command :arguments) []))
                             #'ignore))))

(defun specls-ghost--go-on (ghost)
  "A part of GHOST is in the buffer, up to point."
  (let* ((text (specls-ghost-text ghost))
         (length (- (point) (specls-ghost-start ghost)))
         (part (substring text 0 length)))
    (cl-incf (specls-ghost-done ghost)
             (+ (specls-text-units part)
                (if (specls-ghost-crlf ghost) (cl-count ?\n part) 0)))
    (setf (specls-ghost-text ghost) (substring text length)
          (specls-ghost-start ghost) (copy-marker (point)))
    (setq specls-ghost--all (list ghost)
          specls-ghost--chosen 0)
    (specls-client-notify :textDocument/didPartiallyAcceptCompletion
                          (list :item (specls-ghost-item ghost)
                                :acceptedLength (specls-ghost-done ghost)))
    (specls-ghost-refresh)))

(provide 'specls-ghost)
;;; specls-ghost.el ends here
