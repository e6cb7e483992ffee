import { OperatorError } from '../errors.ts'

/**
 * A configuration that cannot be used. The message names the option, its value (unless secret) and what is
 * expected.
 */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError'
}
