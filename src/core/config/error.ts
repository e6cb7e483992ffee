import { OperatorError } from '../base/errors.ts'

/**
 * Thrown if the configuration cannot be used. The message contains the option, its value (unless it is
 * secret) and the expected form.
 */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError'
}
