/** Why edits of a viewer are dropped, and what helps, in every protocol. */
export const readOnlyReason =
  'your edits of this document are not saved: you may only view it; ask its owner for the role editor'
