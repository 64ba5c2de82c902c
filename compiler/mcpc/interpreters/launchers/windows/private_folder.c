/* Folders that only this user can write to: an interpreter is started from one.
 *
 * Refused are a link or another reparse point in place of a folder, an owner who is neither this user nor the system,
 * and an access list that lets anyone else write. */
#include "launcher.h"

enum { LARGEST = 4096 };

/* The access by which what is in a folder could be replaced. */
static const DWORD WRITES = FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY | FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER |
                            GENERIC_WRITE | GENERIC_ALL;

/* Who else may own such a folder and write to it. */
static const WELL_KNOWN_SID_TYPE TRUSTED[] = {WinLocalSystemSid, WinBuiltinAdministratorsSid, WinCreatorOwnerRightsSid};

static PSID this_user(void) {
    DWORD bytes;
    HANDLE token;
    TOKEN_USER *user = allocate(LARGEST);
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return NULL;
    BOOL is_known = GetTokenInformation(token, TokenUser, user, LARGEST, &bytes);
    CloseHandle(token);
    return is_known ? user->User.Sid : NULL;
}

static PSID well_known(WELL_KNOWN_SID_TYPE kind) {
    DWORD bytes = SECURITY_MAX_SID_SIZE;
    PSID sid = allocate(bytes);
    return CreateWellKnownSid(kind, NULL, sid, &bytes) ? sid : NULL;
}

static BOOL is_trusted(PSID sid, PSID user) {
    if (EqualSid(sid, user)) return TRUE;
    for (SIZE_T row = 0; row < sizeof TRUSTED / sizeof *TRUSTED; row++) {
        PSID trusted = well_known(TRUSTED[row]);
        if (trusted && EqualSid(sid, trusted)) return TRUE;
    }
    return FALSE;
}

/* Makes a folder with an access list of its own, which what is made in it inherits; FALSE with the last error. */
BOOL make_private_folder(const wchar_t *path) {
    SECURITY_DESCRIPTOR descriptor;
    SECURITY_ATTRIBUTES attributes = {sizeof attributes, &descriptor, FALSE};
    PSID sids[] = {this_user(), well_known(WinLocalSystemSid), well_known(WinBuiltinAdministratorsSid)};
    ACL *list = allocate(LARGEST);
    if (!InitializeAcl(list, LARGEST, ACL_REVISION)) return FALSE;
    for (SIZE_T row = 0; row < sizeof sids / sizeof *sids; row++)
        if (!sids[row] || !AddAccessAllowedAceEx(list, ACL_REVISION, OBJECT_INHERIT_ACE | CONTAINER_INHERIT_ACE,
                                                 FILE_ALL_ACCESS, sids[row]))
            return FALSE;
    return InitializeSecurityDescriptor(&descriptor, SECURITY_DESCRIPTOR_REVISION) &&
           SetSecurityDescriptorOwner(&descriptor, sids[0], FALSE) &&
           SetSecurityDescriptorDacl(&descriptor, TRUE, list, FALSE) &&
           SetSecurityDescriptorControl(&descriptor, SE_DACL_PROTECTED, SE_DACL_PROTECTED) &&
           CreateDirectoryW(path, &attributes);
}

/* Tells whether an access list lets only trusted users write. */
static BOOL is_closed(ACL *list, PSID user) {
    for (DWORD row = 0; row < list->AceCount; row++) {
        ACCESS_ALLOWED_ACE *entry;
        if (!GetAce(list, row, (void **)&entry)) return FALSE;
        if (entry->Header.AceType == ACCESS_DENIED_ACE_TYPE || entry->Header.AceFlags & INHERIT_ONLY_ACE) continue;
        if (entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE) return FALSE;
        if (entry->Mask & WRITES && !is_trusted(&entry->SidStart, user)) return FALSE;
    }
    return TRUE;
}

static BOOL is_closed_to_others(HANDLE folder) {
    SECURITY_DESCRIPTOR *descriptor = allocate(LARGEST);
    PSID owner, user = this_user();
    ACL *list;
    BOOL is_there, is_default;
    DWORD bytes;
    return user &&
           GetKernelObjectSecurity(folder, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, descriptor, LARGEST,
                                   &bytes) &&
           GetSecurityDescriptorOwner(descriptor, &owner, &is_default) && owner && is_trusted(owner, user) &&
           GetSecurityDescriptorDacl(descriptor, &is_there, &list, &is_default) && is_there && list &&
           is_closed(list, user);
}

/* Tells whether a path is a folder itself, to which nobody else can write. */
BOOL is_private_folder(const wchar_t *path) {
    BY_HANDLE_FILE_INFORMATION found;
    HANDLE folder = CreateFileW(path, READ_CONTROL | FILE_READ_ATTRIBUTES,
                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (folder == INVALID_HANDLE_VALUE) return FALSE;
    BOOL is_private = GetFileInformationByHandle(folder, &found) &&
                      found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY &&
                      !(found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) && is_closed_to_others(folder);
    CloseHandle(folder);
    return is_private;
}
