/** Time in ms for which a button shows the result of a copy. */
const shownMs = 2_000

/** Adds a copy button to each sample of the page. */
export function addCopyButtons(): void {
  for (const sample of document.querySelectorAll('main pre')) addCopyButton(sample)
}

/**
 * Adds a button that copies the text of a sample.
 * @param sample a `pre` element; it is moved into a wrapper together with the button
 */
function addCopyButton(sample: Element): void {
  const wrapper = document.createElement('div')
  wrapper.className = 'sample'
  sample.replaceWith(wrapper)
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  showName(button)
  button.addEventListener('click', () => {
    void copyText((sample.textContent ?? '').trimEnd()).then((isCopied) => showResult(button, isCopied))
  })
  wrapper.append(sample, button)
}

/**
 * Sets the name of the button to `Copy code`, of which only `Copy` is visible. Screen readers read the whole
 * name. The name contains the visible text, because users of voice control call the button by that text.
 */
function showName(button: HTMLButtonElement): void {
  const rest = document.createElement('span')
  rest.className = 'unseen'
  rest.textContent = ' code'
  button.replaceChildren('Copy', rest)
}

function showResult(button: HTMLButtonElement, isCopied: boolean): void {
  button.textContent = isCopied ? 'Copied' : 'Not copied'
  announce(isCopied ? 'Copied' : 'The browser did not allow the copy')
  setTimeout(() => showName(button), shownMs)
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Over plain HTTP, except on localhost, a page has no `navigator.clipboard`.
    return copySelection(text)
  }
}

/**
 * Copies a text with an older command, which also works over plain HTTP. Returns whether the text was copied.
 */
function copySelection(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'unseen'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}

let status: HTMLElement | null = null

/** Makes screen readers read the text. */
function announce(text: string): void {
  if (status === null) {
    status = document.createElement('p')
    status.className = 'unseen'
    status.setAttribute('role', 'status')
    document.body.append(status)
  }
  status.textContent = text
}
