import { mkdirSync, writeFileSync } from 'node:fs'
import { operationList } from '../capabilities/list.ts'
import { eventGroups } from '../capabilities/webhooks/api/event-schema.ts'
import { packageFile } from '../core/base/package-file.ts'
import { readPackageVersion } from '../core/base/package-version.ts'
import { buildDocs, documentationEntries } from '../docs/build.ts'
import { openApiDocument } from '../rest/openapi/document.ts'
import { type OpenApiDocument, referenceEntries, referencePages } from '../rest/pages/api-reference.ts'
import { describedPaths } from '../server/described-paths.ts'

/**
 * Writes the pages of the documentation: the chapters, the OpenAPI document, the reference, and the search index, which
 * has entries for chapters, errors and operations.
 * @param folder the folder of the build, with a final slash
 */
export function writePages(folder: string): void {
  buildDocs(folder)
  const document = openApiDocument({
    operations: operationList,
    paths: describedPaths,
    events: eventGroups,
    version: readPackageVersion(),
  }) as OpenApiDocument
  const write = (name: string, text: string): void =>
    writeFileSync(packageFile(`${folder}docs/${name}`), text)
  mkdirSync(packageFile(`${folder}docs/reference`), { recursive: true })
  write('reference/openapi.json', JSON.stringify(document))
  for (const { name, html } of referencePages(document)) write(`${name}.html`, html)
  write('search.json', JSON.stringify([...documentationEntries(), ...referenceEntries(document)]))
}
