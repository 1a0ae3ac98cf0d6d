"""Organisations: namespaces of several users, each with a role; the file `organisations.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hfenv.errors import ConflictError, NotFoundError
from hfenv.localhub.accounts import OrgRole, check_account
from hfenv.localhub.jsonfile import JsonFile

Members = Mapping[str, OrgRole]


class Organisations:
    """The organisations of a storage folder, safe for several processes at once."""

    def __init__(self, root: Path) -> None:
        self._file = JsonFile(root, "organisations.json")

    def all(self) -> dict[str, Members]:
        """Members and their roles by organisation.

        Raises:
            UnreadableError: the file isn't what was written.
        """
        return self._decode(self._file.read())

    def _decode(self, data: dict[str, Any]) -> dict[str, Members]:
        found = data.get("organisations", {})
        try:
            return {org: {user: OrgRole(role) for user, role in members.items()} for org, members in found.items()}
        except (AttributeError, ValueError) as error:
            raise self._file.unreadable() from error

    def of(self, user: str) -> dict[str, OrgRole]:
        """A user's role in each of their organisations."""
        return {org: members[user] for org, members in self.all().items() if user in members}

    def members(self, org: str) -> Members:
        """Members and roles of an organisation.

        Raises:
            NotFoundError: there is no such organisation.
        """
        return self._get(self.all(), org)

    @staticmethod
    def _get(found: dict[str, Members], org: str) -> Members:
        if org not in found:
            raise NotFoundError(f"There is no organisation '{org}'.", "See them with: hfenv hub org list")
        return found[org]

    def create(self, org: str, administrator: str, users: frozenset[str]) -> None:
        """Make an organisation with one member.

        Args:
            org: Its name, which becomes a namespace.
            administrator: The first member.
            users: Names of users there are: an organisation can't have one of them.

        Raises:
            UsageError: a name can't be one.
            ConflictError: the name is taken.
        """
        check_account(org)
        check_account(administrator)
        with self._file.changed() as data:
            found = self._decode(data)
            if org.lower() in {name.lower() for name in (*found, *users)}:
                raise ConflictError(f"The name '{org}' is taken.", "Choose another name.")
            data["organisations"] = {**found, org: {administrator: OrgRole.ADMIN}}

    def delete(self, org: str) -> None:
        """Forget an organisation; its repositories stay, for the administrator alone.

        Raises:
            NotFoundError: there is none.
        """
        with self._file.changed() as data:
            found = self._decode(data)
            self._get(found, org)
            data["organisations"] = {name: members for name, members in found.items() if name != org}

    def set_role(self, org: str, user: str, role: OrgRole) -> None:
        """Make a user a member, or give a member another role.

        Raises:
            NotFoundError: there is no such organisation.
        """
        check_account(user)
        self._change(org, lambda members: {**members, user: role})

    def remove(self, org: str, user: str) -> None:
        """Take a member out.

        Raises:
            NotFoundError: no such organisation, or no such member.
            ConflictError: nobody would be left to administrate it.
        """
        if user not in self.members(org):
            raise NotFoundError(f"'{user}' isn't a member of '{org}'.", f"See them with: hfenv hub org list {org}")
        self._change(org, lambda members: {name: role for name, role in members.items() if name != user})

    def _change(self, org: str, change: Callable[[Members], Members]) -> None:
        with self._file.changed() as data:
            found = self._decode(data)
            members = change(self._get(found, org))
            if OrgRole.ADMIN not in members.values():
                raise ConflictError(f"'{org}' would have no administrator.", "Make another member admin first.")
            data["organisations"] = {**found, org: members}
