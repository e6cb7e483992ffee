import type { DocumentImportResult } from '../../capabilities/transfer/import-documents.ts'

/**
 * Maximum numbers of lines about rejected or unknown documents, and about addresses. `--json` prints all of
 * them.
 */
const linesMax = 50
const mappingLinesMax = 10

/** Describes the result of an import, or of a dry run. */
export function formatImport(done: DocumentImportResult, how: 'look' | 'write'): string {
  const { documents, problems, bytes, made, added, there } = done
  const refused = problems.map(({ name, problem }) => `${JSON.stringify(name)} is rejected: ${problem}`)
  const unknown = done.unknown.map((name) => `the map names ${JSON.stringify(name)}, which does not exist`)
  const taken = documents - problems.length
  if (how === 'look')
    return [
      ...firstLines(refused),
      ...firstLines(unknown),
      ...firstLines(mappingLines(done), mappingLinesMax),
      `${taken} of ${documents} documents would be imported (${bytes} bytes), ${problems.length} rejected; nothing was written`,
    ].join('\n')
  return [
    ...firstLines(refused),
    ...firstLines(unknown),
    `${taken} of ${documents} documents are in the store (${bytes} bytes): ${made} created, ${added} merged into existing ones, ${there} unchanged; ${problems.length} rejected`,
  ].join('\n')
}

export function importAsJson(done: DocumentImportResult, how: 'look' | 'write'): string {
  const { made, added, there, mapping, ...both } = done
  const ok = done.problems.length === 0
  return JSON.stringify(
    how === 'look'
      ? { ok, dryRun: true, ...both, mapping }
      : { ok, dryRun: false, ...both, made, added, there },
  )
}

function firstLines(lines: readonly string[], max = linesMax): readonly string[] {
  if (lines.length <= max) return lines
  return [...lines.slice(0, max), `… and ${lines.length - max} more: see --json`]
}

function mappingLines({ mapping }: DocumentImportResult): readonly string[] {
  return mapping.map(({ name, organizationId, documentId, editorId }) => {
    const path = [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
    return `${JSON.stringify(name)} → ${path}`
  })
}
