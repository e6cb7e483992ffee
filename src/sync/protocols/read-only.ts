/** The reason why edits of a viewer are dropped, with the remedy, in every protocol. */
export const readOnlyReason =
  'your edits of this document are not saved: you may only view it; ask its owner for the role editor'
