import { Command } from 'commander'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import type {
  Catalog,
  CatalogDocument,
  CatalogEditor,
  CatalogOrganization,
} from '../../capabilities/transfer/documents/catalog.ts'
import { escapeControls } from '../../core/base/text.ts'
import { decodeSegment, idProblem } from '../../core/model/address.ts'
import { printResult, printRows } from '../command-line/command-io.ts'
import { type LocationFlags, withCatalog, withLocationFlags } from '../location/location.ts'
import { docGetCommand, docPutCommand } from './content.ts'

interface Flags extends LocationFlags {
  readonly json?: true
}

/**
 * Creates the command `weft doc ls`. It prints one line per item as soon as the item is read. The second
 * column is an address that other `weft doc` commands accept.
 */
function docListCommand(): Command {
  return withLocationFlags(new Command('ls'))
    .description('List organizations, the documents of one, or the editors of a document.')
    .argument('[place]', 'organization or organization/document, each percent-encoded.')
    .option('--json', 'Print a line of JSON for each.')
    .action(async (place: string | undefined, flags: Flags) => {
      const ids = place === undefined ? [] : parseIds(place)
      await withCatalog(flags, async (catalog) => {
        const { items, header, line, none } = listing(catalog, ids)
        if (!flags.json && process.stdout.isTTY) printResult(header)
        await printRows(items, { line: flags.json ? null : line, none })
      })
    })
}

/**
 * Parses the ids in an address.
 * @throws StorageError
 */
function parseIds(place: string): readonly string[] {
  const ids = place.split('/').map(decodeSegment)
  if (ids.length > 2 || !ids.every((id) => id !== null && idProblem(id) === null))
    throw new StorageError(`${JSON.stringify(place)} is not an organization or document address`, {
      hint: 'expected <organization> or <organization>/<document>, each percent-encoded',
    })
  return ids as readonly string[]
}

interface Listing {
  readonly items: AsyncGenerator<object>
  readonly header: string
  readonly line: (item: object) => string
  /** Sentence that is printed if the list is empty. */
  readonly none: string
}

function listing(catalog: Catalog, [organizationId, documentId]: readonly string[]): Listing {
  if (organizationId === undefined)
    return {
      items: catalog.organizations(),
      header: columns('CHANGED', 'ORGANIZATION', 'NAME'),
      line: (item) => organizationLine(item as CatalogOrganization),
      none: 'there are no organizations yet',
    }
  if (documentId === undefined)
    return {
      items: catalog.documents(organizationId),
      header: columns('CHANGED', 'DOCUMENT', 'NAME'),
      line: (item) => documentLine(item as CatalogDocument),
      none: 'there are no documents yet',
    }
  return {
    items: catalog.editors(organizationId, documentId),
    header: columns('CHANGED', 'EDITOR', 'BYTES', 'BY'),
    line: (item) => editorLine(item as CatalogEditor),
    none: 'there are no editors',
  }
}

const organizationLine = ({ lastUpdated, organizationId, organizationName }: CatalogOrganization): string =>
  columns(timeOf(lastUpdated), addressOf(organizationId), organizationName)

const documentLine = (shown: CatalogDocument): string =>
  columns(
    timeOf(shown.lastUpdated),
    addressOf(shown.organizationId, shown.documentId),
    shown.disabled ? `${shown.documentName} (disabled)` : shown.documentName,
  )

const editorLine = (shown: CatalogEditor): string =>
  columns(
    timeOf(shown.lastUpdated),
    addressOf(shown.organizationId, shown.documentId, shown.editorId),
    String(shown.sizeBytes),
    shown.lastUpdatedBy,
  )

const timeOf = (at: number): string => new Date(at).toISOString().slice(0, 19)

const addressOf = (...ids: readonly string[]): string => ids.map(encodeURIComponent).join('/')

/**
 * Formats columns with a fixed width that suffices for most ids. The width cannot depend on later ids,
 * because each line is printed immediately.
 */
const columns = (time: string, address: string, ...more: readonly string[]): string =>
  escapeControls([time.padEnd(19), address.padEnd(32), ...more].join('  ')).trimEnd()

/** Creates the command `weft doc`, for documents of a stopped or a running server. */
export const docCommand = (): Command =>
  new Command('doc')
    .description('List, read and write documents, of a stopped server or of a running one (--url).')
    .addCommand(docListCommand())
    .addCommand(docGetCommand())
    .addCommand(docPutCommand())
