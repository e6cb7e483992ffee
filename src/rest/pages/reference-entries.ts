import { anchorOf } from '../../docs/layout.ts'
import type { SearchEntry } from '../../docs/search-entry.ts'
import { type OpenApiDocument, operationsOf, pathOfTag, requestsOf } from './api-reference.ts'
import { memberNames } from './reference-parts.ts'

/** Returns the search entries of the reference: one for each tag, operation and other request. */
export const referenceEntries = (document: OpenApiDocument): readonly SearchEntry[] =>
  document.tags.flatMap(({ name, 'x-displayName': page, description }) => [
    { path: pathOfTag(name), page: `API: ${page}`, section: '', text: withoutMarks(description) },
    ...operationsOf(document, name).map(([path, { summary, description, requestBody }]) => ({
      path: `${pathOfTag(name)}#${anchorOf(path)}`,
      page: `API: ${page}`,
      section: summary,
      operation: path,
      text: withoutMarks(
        [description, ...memberNames(requestBody.content['application/json'].schema)].join(' '),
      ),
    })),
    ...requestsOf(document, name).map(([target, { summary, description, parameters }]) => ({
      path: `${pathOfTag(name)}#${anchorOf(target)}`,
      page: `API: ${page}`,
      section: summary,
      operation: target,
      text: withoutMarks([description, ...parameters.map((each) => each.name)].join(' ')),
    })),
  ])

const withoutMarks = (text: string): string => text.replaceAll('`', '').replaceAll(/\s+/g, ' ')
