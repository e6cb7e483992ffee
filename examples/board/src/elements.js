/** Creates an element with a class and children. */
export function element(name, className, ...children) {
  const made = document.createElement(name)
  made.className = className
  made.append(...children)
  return made
}

/**
 * Edits a text in place of `shown`. Enter, Escape, or a call of the returned `end` ends it. Then `done` gets
 * the new text, or null if nothing has changed.
 */
export function editInPlace(shown, label, done) {
  const input = element('textarea', 'edit')
  input.value = shown.textContent
  input.ariaLabel = label
  input.rows = 1
  let isOver = false
  const end = (isKept) => {
    if (isOver) return
    isOver = true
    const text = input.value.trim()
    input.replaceWith(shown)
    done(isKept && text !== '' && text !== shown.textContent ? text : null)
  }
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey) event.preventDefault()
    else if (event.key !== 'Escape') return
    const place = input.closest('.card') ?? shown
    end(event.key === 'Enter')
    place.focus()
  })
  shown.replaceWith(input)
  input.focus()
  input.select()
  return { input, end }
}
