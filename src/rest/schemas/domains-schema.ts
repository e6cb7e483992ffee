import { ApiError } from '../../core/base/errors.ts'
import { json } from '../../core/base/schema.ts'
import type { DomainsChange } from '../../core/directory/tenants/domain-service.ts'
import { domainTextMax, normalizeDomain } from '../../core/model/domain.ts'
import { invalidAt, type ValidationIssue } from '../validator.ts'

export const domainList = json.list(
  { type: 'string', maxLength: domainTextMax },
  {
    maxItems: 100,
    description:
      'Domains or URLs. A URL stands for its domain without a leading `www.`. `*.example.com` matches all subdomains, ' +
      'but not example.com itself.',
    examples: [['https://www.example.com/app', '*.example.com']],
  },
)

/** Schema of the list of changed domains in a response. */
export const changedDomains = json.list(json.text(), { description: 'As they are stored.' })

/**
 * Returns the domains in their stored form.
 * @param path JSON pointer of the list in the body
 * @throws ApiError INVALID_ARGUMENT with an issue for each entry that is not a domain
 */
export function normalizeDomains(texts: readonly string[], path: string): readonly string[] {
  const domains = texts.map(normalizeDomain)
  const [first, ...others] = domains.flatMap((domain, index): ValidationIssue[] =>
    domain === null
      ? [
          {
            path: `${path}/${index}`,
            message: `is not a domain name: ${quote(texts[index])}; expected a host such as example.com or *.example.com`,
          },
        ]
      : [],
  )
  if (first !== undefined) throw invalidAt(first, ...others)
  return domains.filter((domain) => domain !== null)
}

const quote = (text = ''): string => JSON.stringify(text.slice(0, 100))

/**
 * Returns the error that the specification requires if some domains of a call were already in the requested
 * state. All other domains have been changed.
 */
export function partialSuccess(
  message: string,
  member: string,
  { changed, skipped }: DomainsChange,
): ApiError {
  return new ApiError('domain/partly-changed', message, {
    details: { [member]: changed, skippedDomains: skipped },
  })
}
