const jsonType = /^application\/json[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?$/i

/** Returns whether the value of a header `content-type` declares JSON in UTF-8. */
export const isJsonContentType = (value: string): boolean => jsonType.test(value)
