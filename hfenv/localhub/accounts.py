"""Who may do what: users, their roles in organisations, and what their tokens leave of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from hfenv.errors import UsageError
from hfenv.localhub.names import RESERVED_NAMESPACES, RepoId, is_name

ADMINISTRATOR = "local"


class Access(IntEnum):
    """What somebody may do with a repository, each including what stands before it."""

    NONE = 0
    READ = 1
    CONTRIBUTE = 2  # make repositories in the namespace, and write those
    WRITE = 3
    ADMIN = 4


class OrgRole(str, Enum):
    """A member's role in an organisation, as on the Hub."""

    READ = "read"
    CONTRIBUTOR = "contributor"
    WRITE = "write"
    ADMIN = "admin"

    @property
    def access(self) -> Access:
        return _ACCESS[self]


_ACCESS = {
    OrgRole.READ: Access.READ,
    OrgRole.CONTRIBUTOR: Access.CONTRIBUTE,
    OrgRole.WRITE: Access.WRITE,
    OrgRole.ADMIN: Access.ADMIN,
}


class Role(str, Enum):
    """What kind of token it is; the values are the Hub's."""

    READ = "read"
    WRITE = "write"
    FINE_GRAINED = "fineGrained"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a fine-grained token may do with a namespace, or with one repository (`namespace/name`) of any type."""

    entity: str
    writes: bool

    @classmethod
    def parse(cls, text: str) -> Scope:
        """A scope from `read:ENTITY` or `write:ENTITY`.

        Raises:
            UsageError: it has another form.
        """
        verb, _, entity = text.partition(":")
        parts = entity.split("/")
        if verb not in ("read", "write") or len(parts) > 2 or not all(part and is_name(part) for part in parts):
            raise UsageError(
                f"'{text}' isn't a scope.", "Write read:NAMESPACE, write:NAMESPACE, read:ORG/NAME or write:ORG/NAME."
            )
        return cls(entity, verb == "write")

    def __str__(self) -> str:
        return f"{'write' if self.writes else 'read'}:{self.entity}"

    def covers(self, repo: RepoId) -> bool:
        return self.entity in (repo.namespace, repo.full)


@dataclass(frozen=True, slots=True)
class User:
    """Who makes a request, with the rights of their token. The user `local` is the administrator."""

    name: str
    role: Role
    organisations: Mapping[str, OrgRole] = field(default_factory=dict)
    scopes: tuple[Scope, ...] = ()
    expires: str | None = None

    @property
    def is_administrator(self) -> bool:
        return self.name == ADMINISTRATOR

    def access(self, repo: RepoId, owner: str | None) -> Access:
        """What they may do with a repository.

        Args:
            repo: The repository, which needn't be there yet.
            owner: Who made it, None if that isn't known.
        """
        return min(self._own_access(repo, owner), self._token_access(repo))

    def _own_access(self, repo: RepoId, owner: str | None) -> Access:
        if self.is_administrator or self.name == repo.namespace:
            return Access.ADMIN
        role = self.organisations.get(repo.namespace)
        if role is None:
            return Access.NONE
        return Access.WRITE if role is OrgRole.CONTRIBUTOR and owner == self.name else role.access

    def _token_access(self, repo: RepoId) -> Access:
        if self.role is not Role.FINE_GRAINED:
            return Access.ADMIN if self.role is Role.WRITE else Access.READ
        granted = [Access.ADMIN if scope.writes else Access.READ for scope in self.scopes if scope.covers(repo)]
        return max(granted, default=Access.NONE)

    def may_contribute(self, repo: RepoId) -> bool:
        """Whether their token is good for discussions, pull requests and likes of what they can read."""
        return self._token_access(repo) >= Access.CONTRIBUTE


def check_account(name: str) -> str:
    """Return `name` if it can be that of a user or an organisation.

    Raises:
        UsageError: it can't.
    """
    if not is_name(name) or name.lower() in RESERVED_NAMESPACES:
        raise UsageError(
            f"'{name}' can't be the name of a user or an organisation.",
            "Use letters, digits, '-', '_' and '.', and none of the Hub's own words.",
        )
    return name
