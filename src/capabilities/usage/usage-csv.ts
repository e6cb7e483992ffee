/** The usage of one hour, day or month, as `/v2/workspace/usage/get` returns it. */
export interface UsageRow {
  /** In epoch milliseconds. */
  readonly start: number
  readonly apiKey?: string
  readonly organizationId?: string
  readonly connectionsOpened: number
  readonly connectionsPeak: number
  readonly connectionMinutes: number
  readonly updates: number
  readonly bytesSent: number
  readonly calls: number
  readonly bytesStored?: number
}

const columns = [
  'apiKey',
  'organizationId',
  'connectionsOpened',
  'connectionsPeak',
  'connectionMinutes',
  'updates',
  'bytesSent',
  'calls',
  'bytesStored',
] as const satisfies readonly (keyof UsageRow)[]

/** First line of a CSV file of usage (RFC 4180): the column names. */
export const usageCsvHeader = ['start', ...columns].join(',')

/** Encodes a row as a line of CSV, without its end. The start is in ISO 8601. */
export const usageCsvLine = (row: UsageRow): string =>
  [new Date(row.start).toISOString(), ...columns.map((column) => encodeField(row[column] ?? ''))].join(',')

/**
 * Characters with which a formula begins, also in East Asian editions of spreadsheet programs, and the apostrophe, so
 * that different ids stay different.
 */
const formulaStart = /^['=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/

/**
 * Encodes a field. Text that a spreadsheet program would run as a formula gets an apostrophe before it. The counts
 * are numbers and never negative, so only ids are concerned.
 */
function encodeField(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = formulaStart.test(value) ? `'${value}` : value
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
