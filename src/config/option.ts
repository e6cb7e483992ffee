import type { Parser } from './option-parsers.ts'

/**
 * A row of the table of options. The names of an option are derived from its key: `maxBodyBytes`,
 * `--max-body-bytes`, `WEFT_MAX_BODY_BYTES`.
 */
export interface Option<T> {
  readonly parser: Parser<NonNullable<T>>
  readonly default: T
  /** The default as the documentation shows it, if the value alone does not explain it. */
  readonly defaultText?: string
  /**
   * True if the value is a secret. It is then never shown, has no flag (command lines are public), and can be
   * read from the file in `WEFT_…_FILE`.
   */
  readonly secret?: true
  /** Name of a further environment variable for this option. The variable `WEFT_…` has precedence. */
  readonly alsoEnvironment?: string
  readonly description: string
}

export const option = <T>(
  parser: Parser<NonNullable<T>>,
  value: NoInfer<T>,
  description: string,
  more: Partial<Option<T>> = {},
): Option<T> => ({ parser, default: value, description, ...more })

/** Creates an option without a default. */
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
