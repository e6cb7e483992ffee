import { ApiError, nullFor } from '../core/base/errors.ts'
import { json } from '../core/base/schema.ts'
import type { AnchorPlace, StoredAnchor } from '../core/content/edit/anchors.ts'
import { shownQuoteMax } from '../core/content/edit/targets/places.ts'
import { BackendEdits } from '../core/rooms/edits/backend-edits.ts'
import { NotOwnerError, StoreUnavailableError } from '../core/store/engine.ts'
import { editorAddress } from './editor-content.ts'
import type { DocumentIds } from './list-editors.ts'
import type { TenantContext } from './operation.ts'

export const anchorLimits = {
  /** Maximum number of editors of which a response shows the places of anchors. */
  anchorEditors: 8,
  /** Maximum size in bytes of an editor of which a response shows the places of anchors. */
  anchorDocumentBytes: 8_388_608,
} as const

export const anchorPlace = json.object(
  { quote: json.text(`Text of the anchor; at most ${shownQuoteMax} UTF-16 units.`) },
  {
    before: json.text('Text before it in its block.'),
    after: json.text('Text after it in its block.'),
    shortened: json.boolean('True if `quote` is only the start of the text.'),
  },
)

/**
 * Returns the places at which anchors are now; null if the text was deleted. Anchors are missing in the result if their
 * content is too large or cannot be read now, and after the first `anchorEditors` editors: the records that contain the
 * anchors are more important. Reads the editors one after the other, each once.
 */
export async function anchorPlaces<Anchor extends StoredAnchor & { readonly editorId: string }>(
  { caller, services: { rooms } }: TenantContext,
  document: DocumentIds,
  anchors: readonly Anchor[],
): Promise<ReadonlyMap<Anchor, AnchorPlace | null>> {
  const places = new Map<Anchor, AnchorPlace | null>()
  const editorIds = [...new Set(anchors.map((anchor) => anchor.editorId))]
  for (const editorId of editorIds.slice(0, anchorLimits.anchorEditors)) {
    const show = anchors.filter((anchor) => anchor.editorId === editorId)
    const answers = await rooms
      .use(editorAddress(caller, { ...document, editorId }), (room) =>
        new BackendEdits(room).anchors({ find: [], show }, anchorLimits.anchorDocumentBytes),
      )
      .catch(nullFor(StoreUnavailableError, NotOwnerError, ApiError))
    for (const [index, anchor] of show.entries()) {
      const shown = answers?.shown[index]
      if (shown !== undefined) places.set(anchor, shown)
    }
  }
  return places
}
