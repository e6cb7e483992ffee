/** Matches a name of an HTTP header, and a value without control characters. */
const headerName = /^[!#$%&'*+.^_`|~\w-]{1,100}$/
const headerText = /^[\x20-\x7e]{0,4096}$/

/**
 * Parses `name=value,name=value` with percent-encoded values, the form of `OTEL_EXPORTER_OTLP_HEADERS`. Returns
 * undefined if the text is invalid.
 */
export function parseHeaderList(text: string): Readonly<Record<string, string>> | undefined {
  const entries = text.split(',').filter((entry) => entry.trim() !== '')
  const headers: Record<string, string> = {}
  for (const entry of entries) {
    const end = entry.indexOf('=')
    const name = entry.slice(0, Math.max(0, end)).trim()
    const value = decoded(entry.slice(end + 1).trim())
    if (!headerName.test(name) || value === undefined || !headerText.test(value)) return undefined
    headers[name] = value
  }
  return headers
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
