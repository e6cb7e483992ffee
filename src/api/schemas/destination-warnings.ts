import type { ApiServices } from '../api-services.ts'

/** Returns the warnings for URLs to which the server will send nothing. */
export function destinationWarnings(
  { destinations }: Pick<ApiServices, 'destinations'>,
  urls: readonly (string | null | undefined)[],
): readonly string[] {
  const problems = urls.map((url) =>
    url === null || url === undefined || !URL.canParse(url) ? null : destinations.problemOf(new URL(url)),
  )
  return [...new Set(problems.filter((problem) => problem !== null))].map(
    (problem) => `${problem}, so nothing is sent to it; add it to the option WEFT_WEBHOOK_ALLOWLIST`,
  )
}
