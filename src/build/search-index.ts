import { writeFileSync } from 'node:fs'
import { openApiDocument } from '../api/openapi/document.ts'
import { operationList } from '../api/operation-list.ts'
import type { OpenApiDocument } from '../api/pages/api-reference.ts'
import { referenceEntries } from '../api/pages/reference-entries.ts'
import { packageFile } from '../config/package-file.ts'
import { documentationEntries } from '../docs/build.ts'
import { describedPaths } from '../server/described-paths.ts'

/** Writes the search index of the documentation, which has entries for chapters, errors and operations. */
export function writeSearchIndex(folder: string): void {
  const document = openApiDocument({
    operations: operationList,
    paths: describedPaths,
    version: '',
  }) as OpenApiDocument
  const entries = [...documentationEntries(), ...referenceEntries(document)]
  writeFileSync(packageFile(`${folder}docs/search.json`), JSON.stringify(entries))
}
