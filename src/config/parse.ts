import { resolve } from 'node:path'

/** Reads one option's text. Parsers are total: what does not fit is `undefined`, and the reader names the option. */
export interface Parser<T> {
  /** Completes the sentence "expected …". */
  readonly expected: string
  parse(text: string): T | undefined
  /** What exactly is wrong with a text that does not fit, without its secrets. */
  problem?(text: string): string | null
}

export const wholeNumber = (min: number, max: number): Parser<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse(text) {
    if (!/^\d{1,15}$/.test(text)) return undefined
    const value = Number(text)
    return value >= min && value <= max ? value : undefined
  },
})

export const flag: Parser<boolean> = {
  expected: '"true" or "false"',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

export const oneOf = <const T extends string>(...values: readonly T[]): Parser<T> => ({
  expected: values.map((value) => `"${value}"`).join(' or '),
  parse: (text) => values.find((value) => value === text),
})

/** A path, made absolute. */
export const path: Parser<string> = {
  expected: 'a path',
  parse: (text) => (text === '' || text.includes('\0') ? undefined : resolve(text)),
}

export const host: Parser<string> = {
  expected: 'a host name or an IP address',
  parse: (text) => (/^[\w.:%-]{1,255}$/.test(text) ? text : undefined),
}

/** An identifier or token: it travels in a header, so visible ASCII only. */
export const headerValue = (lengthMin: number): Parser<string> => ({
  expected: `${lengthMin} to 512 visible ASCII characters`,
  parse: (text) =>
    /^[\x21-\x7e]+$/.test(text) && text.length >= lengthMin && text.length <= 512 ? text : undefined,
})

/** A key for HMAC-SHA256: at least as long as its output (RFC 7518 3.2). */
export const secretBytesMin = 32

export const signingSecret: Parser<string> = {
  expected: `at least ${secretBytesMin} bytes`,
  parse: (text) => (Buffer.byteLength(text) >= secretBytesMin ? text : undefined),
}

export const webUrl: Parser<string> = {
  expected: 'an http(s) URL',
  parse: (text) => (/^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined),
}

export const nonEmpty: Parser<string> = {
  expected: 'a text that is not empty',
  parse: (text) => (text.trim() === '' ? undefined : text),
}
