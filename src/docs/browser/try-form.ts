/**
 * Returns the storage key of a credential of the reader, by the name of the header. The browser deletes the
 * stored credentials when the tab closes. They are never part of a URL.
 */
const keyOf = (header: string): string => `weft-docs:${header}`

function storedCredential(header: string): string {
  try {
    return sessionStorage.getItem(keyOf(header)) ?? ''
  } catch {
    // The browser forbids storage. The reader must enter the credentials on each page.
    return ''
  }
}

/**
 * Stores a credential of the reader.
 * @param value an empty text removes the credential
 */
function storeCredential(header: string, value: string): void {
  try {
    if (value === '') sessionStorage.removeItem(keyOf(header))
    else sessionStorage.setItem(keyOf(header), value)
  } catch {
    // The browser forbids storage.
  }
}

/** Maximum number of characters of a response that a form shows. */
const shownMax = 100_000

/** Starts the form of each operation. A form sends its request to the server of the page. */
export function startTryForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) startTryForm(form)
}

function startTryForm(form: HTMLFormElement): void {
  let running: AbortController | null = null
  for (const field of credentialFields(form)) {
    field.value = storedCredential(field.name)
    field.addEventListener('input', () => shareCredential(field))
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    running?.abort()
    running = new AbortController()
    void send(form, running.signal)
  })
}

const credentialFields = (form: ParentNode): readonly HTMLInputElement[] => [
  ...form.querySelectorAll<HTMLInputElement>('input[data-credential]'),
]

/** Stores the value of a credential field, and shows the value in the other forms of the page. */
function shareCredential({ name, value }: HTMLInputElement): void {
  storeCredential(name, value)
  for (const other of credentialFields(document)) if (other.name === name) other.value = value
}

async function send(form: HTMLFormElement, signal: AbortSignal): Promise<void> {
  show(form, 'Sending …')
  const began = performance.now()
  try {
    const response = await fetch(form.dataset.path as string, {
      method: 'POST',
      headers: headersOf(form),
      body: form.querySelector('textarea')?.value ?? '',
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal,
    })
    const text = await response.text()
    const ms = Math.round(performance.now() - began)
    show(form, `${response.status} ${response.statusText} in ${ms} ms`, readable(text))
  } catch (error) {
    // A newer call has aborted this one, and shows its own response.
    if (signal.aborted) return
    show(form, `The request failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function headersOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  const fields = [...form.querySelectorAll('input')].filter(({ value }) => value.trim() !== '')
  return Object.fromEntries([
    ['content-type', 'application/json'],
    ...fields.map(({ name, value }) => [name, value.trim()]),
  ])
}

function show(form: HTMLFormElement, status: string, body = ''): void {
  const [line, sample] = [form.querySelector('.status'), form.querySelector('.response')]
  if (line !== null) line.textContent = status
  if (!(sample instanceof HTMLElement)) return
  const code = sample.querySelector('code')
  if (code !== null) code.textContent = body
  sample.hidden = body === ''
}

/**
 * Returns the text to show for a response: JSON with one member per line, and other text unchanged. A long
 * text is truncated.
 */
function readable(text: string): string {
  const pretty = prettyJson(text)
  if (pretty.length <= shownMax) return pretty
  return `${pretty.slice(0, shownMax)}\n… ${pretty.length - shownMax} more characters`
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
