import type { Parser } from './option-parsers.ts'

/**
 * A row of the table of options. Its names follow from its key: `maxBodyBytes`, `--max-body-bytes`,
 * `WEFT_MAX_BODY_BYTES`.
 */
export interface Option<T> {
  readonly parser: Parser<NonNullable<T>>
  readonly default: T
  /** The default in the documentation, if the value alone does not explain it. */
  readonly defaultText?: string
  /**
   * The value is never shown, has no flag (command lines are public), and can be read from a file:
   * `WEFT_…_FILE`.
   */
  readonly secret?: true
  /** An additional environment variable. The option's own variable has precedence. */
  readonly alsoEnvironment?: string
  readonly description: string
}

export const option = <T>(
  parser: Parser<NonNullable<T>>,
  value: NoInfer<T>,
  description: string,
  more: Partial<Option<T>> = {},
): Option<T> => ({ parser, default: value, description, ...more })

/** An option without a default. */
export const optional = (
  parser: Parser<string>,
  description: string,
  more: Partial<Option<string | null>>,
): Option<string | null> => ({ parser, default: null, description, ...more })

export const secret = (
  parser: Parser<string>,
  description: string,
  defaultText = 'made at first start',
): Option<string | null> => optional(parser, description, { secret: true, defaultText })
