;;; specls-text.el --- Texts and positions of the protocol  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Emacs counts characters, the protocol counts UTF-16 code units; and a text is sent as its file
;; has it.

;;; Code:

(require 'cl-lib)
(require 'url-util)

(defun specls-text-units (text)
  "How many UTF-16 code units TEXT has."
  (+ (length text) (cl-count-if (lambda (each) (<= #x10000 each #x10FFFF)) text)))

(defun specls-text-column (line units)
  "The characters of LINE before UNITS UTF-16 code units, at most all."
  (let ((column 0) (left units))
    (while (and (> left 0) (< column (length line)))
      (cl-decf left (if (<= #x10000 (aref line column) #x10FFFF) 2 1))
      (cl-incf column))
    column))

(defun specls-text-position (where)
  "The protocol's position of WHERE in the current buffer."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char where)
      (list :line (1- (line-number-at-pos nil t))
            :character (specls-text-units
                        (buffer-substring-no-properties (line-beginning-position) (point)))))))

(defun specls-text-of (from to)
  "The text between FROM and TO as the file has it, with its line endings.
Bytes that aren't characters are replaced."
  (let ((text (replace-regexp-in-string
               "[\x3FFF80-\x3FFFFF]" "\uFFFD" (buffer-substring-no-properties from to))))
    (if (eq (coding-system-eol-type buffer-file-coding-system) 1)
        (string-replace "\n" "\r\n" text)
      text)))

(defun specls-text-whole ()
  "The whole text of the buffer."
  (save-restriction (widen) (specls-text-of (point-min) (point-max))))

(defconst specls-text--path-characters
  (let ((allowed (copy-sequence url-path-allowed-chars)))
    (aset allowed ?% nil)
    allowed)
  "Which characters stay as they are in the URI of a file.")

(defun specls-text-uri (file)
  "The URI of FILE."
  (let ((path (expand-file-name (or (file-remote-p file 'localname) file))))
    (concat "file://" (unless (string-prefix-p "/" path) "/")
            (url-hexify-string path specls-text--path-characters))))

(provide 'specls-text)
;;; specls-text.el ends here
