// The filters of the list. They stay beside a debate, in this tab.
const KEPT = "aw-list-filters";

export function kept() {
  return new URLSearchParams(sessionStorage.getItem(KEPT) ?? "");
}

export function keep(form) {
  const fields = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
  sessionStorage.setItem(KEPT, fields);
  return fields;
}

// Fills the form. A type may be offered on another page only.
export function restore(form) {
  const fields = kept();
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = fields.get(field.name) ?? "";
    field.value = value;
    if (field.selectedIndex < 0) field.add(new Option(value, value, true, true));
  }
}
