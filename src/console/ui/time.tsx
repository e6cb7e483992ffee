import { formatTime } from './format.ts'

/** Shows a time in the local format. @param at time in epoch milliseconds or as ISO 8601 */
export function LocalTime({ at }: { readonly at: number | string }) {
  return <time dateTime={new Date(at).toISOString()}>{formatTime(at)}</time>
}
