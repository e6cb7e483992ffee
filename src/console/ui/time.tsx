const formats = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Shows a time in the local format. @param at time in epoch milliseconds or as ISO 8601 */
export function LocalTime({ at }: { readonly at: number | string }) {
  const date = new Date(at)
  return <time dateTime={date.toISOString()}>{formats.format(date)}</time>
}
