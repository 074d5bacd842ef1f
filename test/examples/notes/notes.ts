export interface Note {
  readonly by: string
  readonly text: string
}

/** The application is about notes. Each belongs to one tenant, or to no tenant. */
export class Notes {
  readonly #notes = new Map<string | null, Note[]>([
    ['lazy-raccoon', [{ by: 'alice', text: 'The bins are emptied on Monday.' }]],
    ['busy-beaver', [{ by: 'carol', text: 'The dam needs three more logs.' }]],
  ])

  of(tenant: string | null): readonly Note[] {
    return this.#notes.get(tenant) ?? []
  }

  add(tenant: string, note: Note): Note {
    this.#notes.set(tenant, [...this.of(tenant), note])
    return note
  }
}
