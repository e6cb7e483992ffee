import { opensMetrics } from '../../../core/access/credentials/authenticator.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { json } from '../../../core/base/schema.ts'
import type { Services } from '../../../rest/services.ts'

/** Member of requests for values that are not those of one API key. */
export const metricsTokenMember = {
  metricsToken: json.text('The metrics token (`WEFT_METRICS_TOKEN`) or the admin token of the server.', {
    maxLength: 512,
  }),
} as const

/**
 * Returns whether a caller may see values of the whole server: it has the metrics token or the admin token, or no other
 * API key exists whose values these could be.
 * @throws ApiError if the server has a metrics token, and the caller does not send it
 */
export async function maySeeMetrics(
  given: string | undefined,
  { config, tenants }: Services,
): Promise<boolean> {
  if (opensMetrics(config, given ?? '')) return true
  if (config.metricsToken === null) return (await tenants.apiKeyIds(2)).length === 1
  throw new ApiError('auth/metrics-token', 'metrics need the metrics token as the member "metricsToken"')
}
