import { escapeHtml } from '../../docs/layout.ts'

interface TriedOperation {
  readonly path: string
  readonly isChanging: boolean
  readonly credentials: readonly TriedHeader[]
  /** Names of the headers that the reader may also send. */
  readonly optional: readonly string[]
  /** The body that the form shows at the start. */
  readonly example: unknown
}

interface TriedHeader {
  readonly name: string
  /** Description in one sentence. */
  readonly description: string
}

/** Maximum number of lines of a body that the form shows without scrolling. */
const rowsMax = 18

/** Returns the form with which a reader calls an operation. The script of the page sends the call. */
export function tryForm({ path, isChanging, credentials, optional, example }: TriedOperation): string {
  const text = JSON.stringify(example, null, 2)
  const rows = Math.min(rowsMax, text.split('\n').length)
  const effect = isChanging
    ? 'The request goes to this server. It changes stored data.'
    : 'The request goes to this server.'
  const fields = [
    ...credentials.map(credentialField),
    ...optional.map((name) => field(`${name} (optional)`, `type="text" name="${name}"`)),
  ]
  return `<details class="try-box">
<summary>Try it</summary>
<form class="try" data-path="${path}">
<p>${effect}${credentials.length > 0 ? ' Your browser keeps the credentials until you close this tab.' : ''}</p>
<div class="fields">
${fields.join('')}</div>
<label>Request body <textarea name="body" rows="${rows}" spellcheck="false">${escapeHtml(text)}</textarea></label>
<p class="row"><button type="submit">Send</button> <output class="status"></output></p>
<pre class="response" tabindex="0" aria-label="Response body" role="region" hidden><code></code></pre>
</form>
</details>
`
}

/** Returns the field of a credential. Ids are visible; browsers hide the characters of secrets. */
function credentialField({ name, description }: TriedHeader): string {
  const type = name.endsWith('-token') ? 'password' : 'text'
  return field(description.replace(/\.$/, ''), `type="${type}" name="${name}" data-credential`)
}

const field = (label: string, attributes: string): string =>
  `<label>${escapeHtml(label)} <input ${attributes} autocomplete="off" spellcheck="false"></label>\n`
