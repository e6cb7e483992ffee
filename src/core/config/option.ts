import { type Parser, type Rate, rateWithBurst } from './option-parsers.ts'

/**
 * A row of the table of options. The key of an option determines its names: `maxBodyBytes`,
 * `--max-body-bytes`, `WEFT_MAX_BODY_BYTES`.
 */
export interface Option<T> {
  readonly parser: Parser<NonNullable<T>>
  readonly default: T
  /** Text that the documentation shows as the default, if the value alone does not explain the default. */
  readonly defaultText?: string
  /**
   * True if the value is a secret. Such an option is never shown. It has no flag, because command lines are
   * public. Its value can be read from the file that `WEFT_…_FILE` specifies.
   */
  readonly secret?: true
  /** Name of another environment variable for this option. If both are set, the variable `WEFT_…` is used. */
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

/** An option that the environment or a file sets. `values.schema.json` of the Helm chart must list it. */
export const secret = (
  parser: Parser<string>,
  description: string,
  defaultText = 'made at first start',
): Option<string | null> => optional(parser, description, { secret: true, defaultText })

/** Creates an option for a rate with a burst, each at most `max`. */
export const rateOption = (value: Rate, max: number, description: string): Option<Rate> =>
  option(rateWithBurst(value, max), value, description)
